"""The isotropic bulk of the paper: theory.md sections 4 and 5.

Rows may have a covariance of their own in the directions that matter, along the spikes and the
target: docs/theory/larger-rank-spikes.md. This leaves out the covariance in the batches' other
directions, and that of norms.

For G groups of neurons V1 and its hat are G x G. They enter only between the mu1 of the groups,
which may be (nearly) linearly dependent; V1 then has huge entries that cancel. So we write
`mu1 = B phi`, with R <= G independent functions phi of kappa: the hat is `B V1_hat B^T` with an
R x R matrix V1_hat, and `V1` below is `B^T V1 B`. A symmetric matrix and a vector are stored
together as one vector of K = R (R + 1)/2 + G entries, the upper triangle of V1 followed by V2, and
likewise their hats. A single group has R = 1, B = 1, K = 2 and is Result 3.3 of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from giantstep.arrays import Array, Complex, RealOrComplex
from giantstep.numerics.contraction import contract
from giantstep.numerics.linear_systems import invert_symmetric, solve_small
from giantstep.numerics.packed_symmetric import triangle_of
from giantstep.problems.spiked_features import Groups
from giantstep.theory.rows.interface import (
    Bulk,
    Continued,
    GroupOverlaps,
    Hats,
    Sources,
    SpikeResponse,
    in_parts,
)
from giantstep.theory.rows.response import (
    ResponseTerms,
    solve_self_consistency,
    variances_at,
    variances_from_terms,
)
from giantstep.theory.rows.row_functions import Traces


class Screened(NamedTuple):
    """The matrices of theory.md section 4 at some q, between the functions phi.

    Attributes
    ----------
    M : shape (S, G, G)
        V1_hat (I + beta D V1_hat)^-1, between groups.
    BK : shape (S, G, R)
        B (I + beta V1_hat P)^-1, with P = B^T D B.
    X : shape (S, R, R)
        (P^-1 + beta V1_hat)^-1, which is B^T V1 B.
    """

    M: RealOrComplex
    BK: RealOrComplex
    X: RealOrComplex


@dataclass(frozen=True, eq=False)
class IsotropicBulk(Bulk):
    """Rows uniform on spheres, of squared radius c for each group: theory.md sections 4 and 5.

    Attributes
    ----------
    B : Array, shape (G, R)
        Combines the functions phi into mu1.
    groups : Groups
    beta : float
    first_across : Array, shape (D,)
        As in `ConditionalFeatures`.
    beside : Array, shape (G, r - 1)
        The spikes' entries on their further directions.
    covariance : Array, shape (G, r + D, r + D), optional
        d times the covariance of rows, along the spikes' directions and the target's across them:
        by default c times the identity.
    """

    B: Array
    groups: Groups
    beta: float
    first_across: Array = field(default_factory=lambda: np.ones(1))
    beside: Array = field(default_factory=lambda: np.empty((1, 0)))
    covariance: Array | None = None

    def variances(self, V1_hat: Array, L: Array) -> tuple[Array, Array]:
        """Map the hats to V and T: `Bulk.variances`."""
        if self.groups.c.size == 1:
            A, L, c = V1_hat[:, 0, 0], L[:, 0], float(self.groups.c[0])
            t = self.beta * A * response_of_one_group(c * A, L, self.beta)
            f = 1 / (1 + c * t)
            return variances_at(A, L, Traces(t, f, c * f, -c * f**2, -((c * f) ** 2)), self.beta)
        diagonal = contract("gr,srt,gt->sg", self.B, V1_hat, self.B)
        return self._variances_from(1 / (L + self.groups.c * diagonal), V1_hat, L)

    def _variances_from(
        self, start: RealOrComplex, V1_hat: RealOrComplex, L: RealOrComplex
    ) -> tuple[RealOrComplex, RealOrComplex]:
        """Compute V and T, real or complex; the solution for q begins at `start`."""

        def load(q: RealOrComplex) -> tuple[RealOrComplex, RealOrComplex]:
            M = self.screened(q, V1_hat).M
            return self.groups.c * np.einsum("sgg->sg", M), self.load_decrease(M, M)

        q = solve_self_consistency(L, start, load)
        at = self.screened(q, V1_hat)
        return variances_from_terms(q, self.response_terms(at, at), self.groups.pi, self.beta)

    def screened(self, q: RealOrComplex, V1_hat: RealOrComplex) -> Screened:
        """Compute the matrices of `Screened`; real or complex."""
        d = self.groups.pi * self.groups.c * q
        P_inverse = invert_symmetric((self.B.T * d[:, None, :]) @ self.B)
        X = invert_symmetric(P_inverse + self.beta * V1_hat)
        K = P_inverse @ X
        M = self.B @ (K @ V1_hat) @ self.B.T
        return Screened((M + M.transpose(0, 2, 1)) / 2, self.B @ K, X)

    def load_decrease(self, M: RealOrComplex, N: RealOrComplex) -> RealOrComplex:
        """Compute minus the derivative of `c_g M_gg` by q: `beta c_g M_gh^2 pi_h c_h`, (S, G, G).

        For a pair of readouts, M^2 is the product of their M: `SpikeResponse`.
        """
        c, _, pi, _ = self.groups
        return self.beta * M * N * (c[:, None] * pi * c)

    def response_terms(self, one: Screened, other: Screened) -> ResponseTerms:
        """Compute the terms of V of one, and of the derivative of the pair: `SpikeResponse`."""
        gradient = one.BK[:, :, :, None] * other.BK[:, :, None]
        return ResponseTerms(
            V1=one.X,
            load_gradient=self.groups.c[:, None, None] * gradient,
            load_decrease=self.load_decrease(one.M, other.M),
            products=one.X[:, :, None, :, None] * other.X[:, None, :, None],
        )

    def continued(self) -> IsotropicBulk:
        """Return the variances at complex ridges."""
        return self

    def far_response(self, V1_hat: Complex, L: Complex) -> Complex:
        """Return nothing: V is all that is known."""
        return L[:, :0]

    def variances_near(self, V1_hat: Complex, L: Complex, V: Complex, near: Complex) -> Continued:
        """Map complex hats to V and T, from the q of a V nearby."""
        start = V[:, -L.shape[1] :] / self.groups.pi
        return *self._variances_from(start, V1_hat, L), near

    def spike_response(self, V1_hat: Array, V: Array) -> IsotropicResponse:
        """Compute how the readout responds at a solution."""
        return IsotropicResponse(self, V1_hat, V)


def response_of_one_group(load: Array, L: Array, beta: float) -> Array:
    """Solve `q (L + load/(1 + beta load q)) = 1` for q > 0 without cancellation.

    `load q` is theory.md section 5's Marchenko-Pastur resolvent R(s).
    """
    a, b = beta * L * load, L + load * (1 - beta)
    root = np.sqrt(b**2 + 4 * a)
    with np.errstate(divide="ignore", invalid="ignore"):
        q: Array = np.where(b >= 0, 2 / (b + root), (root - b) / (2 * a))
    return q


class IsotropicResponse(SpikeResponse):
    """Overlaps with an isotropic bulk.

    If z are the hats, the overlaps with projections of rows are `G z`, with
    `G = beta sum_g V2_g S_g x (B_g B_g^T)`. Across the spikes, the readout's own response V1_hat
    acts against them.
    """

    def __init__(self, bulk: IsotropicBulk, V1_hat: Array, V: Array) -> None:
        self.bulk, self.V1_hat, self.triangle = bulk, V1_hat, triangle_of(bulk.B.shape[1])
        self.V2, self.pi, self.beta = V[:, self.triangle.size :], bulk.groups.pi, bulk.beta
        self.spikes, directions = 1 + bulk.beside.shape[1], bulk.first_across.size
        c, size = bulk.groups.c[:, None, None], self.spikes + directions
        self.covariance = c * np.eye(size) if bulk.covariance is None else bulk.covariance
        weights = bulk.beta * self.V2[:, :, None, None] * self.covariance
        G = contract("sgij,ga,gb->siajb", weights, bulk.B, bulk.B)
        G = G.reshape(len(V), size * self.triangle.order, size * self.triangle.order)
        self.along = self.spikes * self.triangle.order
        known, across = G[:, : self.along], G[:, self.along :]
        # (1 + G V1_hat)^-1 G across the spikes, and its effect on the other directions.
        self.readout = np.kron(np.eye(directions), V1_hat)
        system = np.eye(across.shape[1]) + across[:, :, self.along :] @ self.readout
        across = solve_small(system, across)
        known = known - known[:, :, self.along :] @ self.readout @ across
        self.K = np.concatenate([known, across], axis=1)

    def hats(self, hats: Hats) -> tuple[Array, Array]:
        """Compute psi, (S, D, R), and hats by groups less the readout's part, (S, r + D, G)."""
        psi = np.einsum("sab,sb->sa", self.K[:, self.along :], hats.z)
        left = hats.z[:, self.along :] - np.einsum("sab,sb->sa", self.readout, psi)
        every, R = np.concatenate([hats.z[:, : self.along], left], axis=1), self.triangle.order
        of_groups = every.reshape(len(psi), -1, R) @ self.bulk.B.T
        return psi.reshape(len(psi), -1, R), of_groups

    def of_groups(self, direction: Array, q: Array, hats: Hats) -> GroupOverlaps:
        """Compute V1, q1 and the overlaps between groups from those between the functions phi."""
        (c, _, _, _), beta = self.bulk.groups, self.bulk.beta
        dA, dV2 = self.triangle.unpack(direction), -q[:, self.triangle.size :]
        M, BK, _ = self.matrices
        d = c * self.V2
        W = np.eye(c.size) - beta * d[:, :, None] * M  # (I + beta D V1_hat)^-1
        V1B = d[:, :, None] * BK
        V1 = W * d[:, None, :]
        dV1 = (W * (c * dV2)[:, None, :]) @ W.transpose(0, 2, 1)
        dV1 -= beta * V1B @ dA @ V1B.transpose(0, 2, 1)
        V1 = (V1 + V1.transpose(0, 2, 1)) / 2
        overlaps = contract("gij,sjg->sgi", self.covariance, self.hats(hats)[1])
        overlaps *= beta * self.V2[:, :, None]
        zeta, psi = overlaps[:, :, : self.spikes], overlaps[:, :, self.spikes :]
        # Averaged over their further directions, spikes curve the mean features.
        xi = np.einsum("sgj,gj->sg", zeta[:, :, 1:], self.bulk.beside)
        q1 = psi @ psi.swapaxes(1, 2) - dV1
        return GroupOverlaps(V1, q1, zeta[:, :, 0], psi @ self.bulk.first_across, xi)

    @cached_property
    def matrices(self) -> Screened:
        """The matrices of theory.md section 4 at the solution."""
        return self.bulk.screened(self.V2 / self.pi, self.V1_hat)

    def terms(self, other: Self) -> ResponseTerms:
        """Compute the terms of V, and of the derivative of the pair."""
        return self.bulk.response_terms(self.matrices, other.matrices)

    def screened(self, common: Array) -> Array:
        """Compute M, times the sum of `common`, shape (S, G, G)."""
        return common.sum() * self.matrices.M

    def screened_sources_of_groups(self, common: Array, w: Array) -> Array:
        """Compute the derivative of the same by V1_hat between groups, at fixed q."""
        Mw = np.einsum("sgh,sh->sg", self.matrices.M, w)
        slope = w - self.bulk.beta * self.bulk.groups.c * self.V2 * Mw
        return common.sum() * slope[:, :, None] * slope[:, None, :]

    def sources(self, other: Self, hats: Hats, others: Hats) -> Sources:
        """Compute what the overlaps add, theory.md section 4, "Variances"."""
        (psi, left), (phi, right) = self.hats(hats), other.hats(others)
        squares = contract("sig,gij,sjg->sg", left, self.covariance, right)
        return in_parts(self.triangle, self.beta * squares, psi.swapaxes(1, 2) @ phi)

    def screened_sources(self, other: Self, common: Array, w: Array, v: Array) -> Sources:
        """Compute the derivative of `w screened(common) v`: through q, and at fixed q."""
        (M, BK, _), (N, BL, _) = self.matrices, other.matrices
        slopes = np.einsum("sgr,sg,sht,sh->srt", BK, w, BL, v)
        Mw, Nv = np.einsum("sgh,sh->sg", M, w), np.einsum("sgh,sh->sg", N, v)
        through_q = self.beta * self.bulk.groups.c * Mw * Nv
        return in_parts(self.triangle, common.sum() * through_q, common.sum() * slopes)
