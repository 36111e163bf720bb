"""The bulk after one step from several initial readouts: theory.md section 9.

docs/theory/trained-bulk.md derives the equations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from giantstep.arrays import Array, Complex
from giantstep.numerics.contraction import contract
from giantstep.numerics.linear_systems import Factor, solve_small
from giantstep.numerics.packed_symmetric import triangle_of
from giantstep.theory.rows.eigenmodes import SUMS, Modes, RowCovariance, product
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
    variances_from_terms,
)


@dataclass(frozen=True, eq=False)
class GroupsBulk(Bulk):
    """Rows of covariance `(c_g0 I + c_g1 B)/d`, with norms that depend on the spike.

    Attributes
    ----------
    rows : RowCovariance
    norm_coupling : Array, shape (G,)
        How strongly the norms of a group depend on the overlap.
    """

    rows: RowCovariance
    norm_coupling: Array

    @property
    def floats_per_point(self) -> int:
        """Size of the largest array at one point."""
        return int(self.rows.batch.moments.squares.size * self.rows.B.shape[1] ** 2)

    def variances(self, V1_hat: Array, L: Array) -> tuple[Array, Array]:
        """Map the hats to V and T."""
        (B, pi, norms, beta, batch), factor = self.rows, Factor.of(V1_hat)

        def load(q: Array) -> tuple[Array, Array]:
            modes = Modes(self.rows, q, factor)
            return modes.load, modes.load_decrease(modes)

        diagonal = contract("gr,srt,gt->sg", B, V1_hat, B)
        largest_load = (norms[0] + norms[1] * batch.label_power) * diagonal
        q = solve_self_consistency(L, 1 / (L + largest_load), load)
        at = Modes(self.rows, q, factor)
        return variances_from_terms(q, at.terms(at), pi, beta)

    def continued(self) -> GroupsBulk:
        """Return the variances at complex ridges."""
        return replace(self, rows=self.rows._replace(batch=self.rows.batch.on_path()))

    def far_response(self, V1_hat: Complex, L: Complex) -> Complex:
        """Compute tr Z of the modes far above the real axis, where the load vanishes."""
        return np.ones((len(L), self.rows.B.shape[1]), dtype=complex)

    def variances_near(self, V1_hat: Complex, L: Complex, V: Complex, near: Complex) -> Continued:
        """Map complex hats to V and T; the response is tr Z of the modes.

        The nearby q solves its equation exactly at another L: the results are continued from there
        by their derivatives.
        """
        pi, beta = self.rows.pi, self.rows.beta
        q = V[:, -pi.size :] / pi
        modes = Modes(self.rows, q, Factor.of(V1_hat), near)
        V, T = variances_from_terms(q, modes.terms(modes), pi, beta)
        at = 1 / q - modes.load
        V = V - np.einsum("skg,sg->sk", T[:, :, -pi.size :], L - at)
        return V, T, modes.single.powers[0]

    def spike_response(self, V1_hat: Array, V: Array) -> GroupsResponse:
        """Compute how the readout responds at a solution."""
        return GroupsResponse(self, V1_hat, V)


class _HatsInModes(NamedTuple):
    """The hats of the overlaps, and what they act on, mode by mode.

    Attributes
    ----------
    rows : Array, shape (S, G, 2, R)
        Terms of `sum_k B u_k (...) Z_k`, which acts on the rows; along v and across it.
    functions : Array, shape (2, S, R, 2, R)
        Terms of `sum_k dual_k (...) Z_k`, between the functions phi; polynomials in b.
    norms : Array, shape (S, G)
        What acts on the change of the norms of a group.
    spike : Array, shape (S, R)
        The part along the spike itself, which is not in the covariance.
    """

    rows: Array
    functions: Array
    norms: Array
    spike: Array


class GroupsResponse(SpikeResponse):
    """Overlaps with a trained bulk.

    The functions along the spike are kappa phi, followed by those of the norms.
    """

    def __init__(self, bulk: GroupsBulk, V1_hat: Array, V: Array) -> None:
        self.bulk, rows = bulk, bulk.rows
        self.triangle, self.pi, self.beta = triangle_of(rows.B.shape[1]), rows.pi, rows.beta
        self.factor = Factor.of(V1_hat)
        self.V2 = V[:, self.triangle.size :]
        q = self.V2 / rows.pi
        self.modes = Modes(rows, q, self.factor)
        self.forms = np.stack(rows.batch.forms(self.modes.single))
        size = self.triangle.order
        G = self._unprojected()
        # The bulk has no component along the spike: project that direction out.
        dual = self.modes.dual
        remaining = np.einsum("sik,sjk,sk->sij", dual, dual, self.forms[0, :, :, 0, 0])
        self.projection = solve_small(remaining, G[:, :size])
        self.K = G + G[:, :, :size] @ self.projection
        self.along = len(G[0]) - size

    def _unprojected(self) -> Array:
        """Compute K for rows that have a component along the spike as well.

        Its blocks are (kappa phi, norms, phi).
        """
        A, dual, F0 = self.modes.A, self.modes.dual, self.forms[0]
        beta, weights = self.bulk.rows.beta, self.bulk.norm_coupling * self.V2
        phi = beta * np.einsum("sik,jskr,jskxy->sxiyr", dual, self.modes.numerators, self.forms)
        phi = (phi + phi.transpose(0, 1, 4, 3, 2)) / 2
        of_norms = weights[:, :, None] * A
        mixed = beta * np.einsum("sik,sgk,skx->sxig", dual, of_norms, F0[..., 0])
        diagonal = (self.bulk.norm_coupling * weights)[:, :, None] * np.eye(weights.shape[1])
        norms = beta * diagonal - beta**2 * np.einsum(
            "sgk,shk,sk->sgh", of_norms, of_norms, F0[..., 0, 0]
        )
        swapped = mixed.transpose(0, 1, 3, 2)
        return np.block([
            [phi[:, 0, :, 0], mixed[:, 0], phi[:, 0, :, 1]],
            [swapped[:, 0], norms, swapped[:, 1]],
            [phi[:, 1, :, 0], mixed[:, 1], phi[:, 1, :, 1]],
        ])  # fmt: skip

    def in_modes(self, hats: Hats) -> _HatsInModes:
        """Resolve the hats of the overlaps into modes."""
        size, (A, dual) = self.triangle.order, (self.modes.A, self.modes.dual)
        spike = np.einsum("sij,sj->si", self.projection, hats.z)
        norms = self.bulk.norm_coupling * hats.z[:, size : self.along]
        phi = np.stack([hats.z[:, :size] + spike, hats.z[:, self.along :]], axis=1)
        from_norms = np.einsum("sgk,sg->sk", A, self.V2 * norms)
        rows = np.einsum("srk,sxr->sxk", dual, phi)
        rows[:, 0] -= self.bulk.rows.beta * from_norms
        functions = np.einsum("jskr,sxr->jsxk", self.modes.numerators, phi)
        functions[0, :, 0] += from_norms
        along_spike = np.einsum("sij,skj,sk->si", self.factor.dual, self.factor.dual, spike)
        rows = np.einsum("sgk,sxk->sgxk", A, rows)
        functions = np.einsum("srk,jsxk->jsrxk", dual, functions)
        return _HatsInModes(rows, functions, norms, along_spike)

    @cached_property
    def _own_pair_forms(self) -> Array:
        return self.bulk.rows.batch.pair_forms(self.modes.single, self.modes.single)

    def pair_forms(self, other: Self) -> Array:
        """Compute quadratic forms of B^j Z_k Z_l in (v, across v), shape (3, S, R, R, 2, 2)."""
        if self is other:
            return self._own_pair_forms
        return self.bulk.rows.batch.pair_forms(self.modes.single, other.modes.single)

    def of_groups(self, direction: Array, q: Array, hats: Hats) -> GroupOverlaps:
        """Compute the overlaps of each group of neurons, and of each pair of groups."""
        modes, beta = self.modes, self.bulk.rows.beta
        parts = self.in_modes(hats)
        single = np.einsum("jg,jskxy,sgxk->sgy", modes.rows.norms, self.forms, parts.rows)
        single[:, :, 0] += parts.norms
        overlaps = beta * self.V2[:, :, None] * single
        zeta, psi = overlaps[:, :, 0], overlaps[:, :, 1]
        xi = np.einsum("sij,sj->si", self.K[:, self.triangle.order : self.along], hats.z)
        V1, change = self._variances_of_groups(direction, -q[:, self.triangle.size :])
        q1 = self._squares(parts.rows, parts.norms)
        q1 -= zeta[:, :, None] * zeta[:, None]
        return GroupOverlaps(V1, q1 - change, zeta, psi, xi)

    def _squares(self, on_groups: Array, norms: Array) -> Array:
        """Compute what the hats of the overlaps add to the second moment q1 + zeta zeta^T."""
        c, V2 = self.bulk.rows.norms, self.V2
        q1: Array = contract(
            "jgh,jsklxy,sgxk,shyl->sgh",
            product(c, c), self.pair_forms(self), on_groups, on_groups
        )  # fmt: skip
        mixed = np.einsum("jg,jskx,sgxk,sh->sgh", c, self.forms[..., 0], on_groups, norms)
        q1 += mixed + mixed.transpose(0, 2, 1) + norms[:, :, None] * norms[:, None]
        q1 *= self.bulk.rows.beta**2 * V2[:, :, None] * V2[:, None]
        return q1

    def _variances_of_groups(self, direction: Array, dV2: Array) -> tuple[Array, Array]:
        """Compute V1 between groups, and its derivative along a direction of the hats.

        `V1 = E_b [D - beta D M D]` and, with `W = 1 - beta D M`,
        `dV1 = E_b [W dD W^T - beta D M V1_hat^-1 dV1_hat V1_hat^-1 M D]`, where `D = c(b) pi q`.
        """
        (_, _, c, beta, batch), V2 = self.bulk.rows, self.V2
        modes, diagonal = self.modes, np.eye(V2.shape[1])
        A, mean_c = modes.A, c[0] + c[1] * batch.label_power
        cc, pair = product(c, c), modes.pair(modes)
        ccM = np.einsum("jgh,jsk,sgk,shk->sgh", cc, np.stack(modes.single.powers), A, A)
        V1 = diagonal * (mean_c * V2)[:, None] - beta * V2[:, :, None] * ccM * V2[:, None]
        # Between modes, V1_hat and c(b) q move by a polynomial in b.
        moved = -beta * np.einsum("jg,sg,sgk,sgl->jskl", c, dV2, A, A)
        dA = self.triangle.unpack(direction)
        moved[0] += modes.dual.swapaxes(1, 2) @ dA @ modes.dual
        powers = pair[np.add.outer(range(2), range(3))]
        quadratic = beta * contract("jgh,ijskl,sgk,shl,iskl->sgh", cc, powers, A, A, moved)
        quadratic *= V2[:, :, None] * V2[:, None]
        linear = beta * V2[:, :, None] * ccM * dV2[:, None]
        dV1 = diagonal * (mean_c * dV2)[:, None] - linear - linear.transpose(0, 2, 1) - quadratic
        return V1, dV1

    def polynomial(self, common: Array) -> Array:
        """Return the coefficients of `common[0] + common[1] b/tr B` as a polynomial in b."""
        return common / np.array([1.0, self.bulk.rows.batch.label_power])

    def screened(self, common: Array) -> Array:
        """Average `(common[0] + common[1] b/tr B) M(b)` over the eigenvalues b of B, (S, G, G)."""
        A, single = self.modes.A, np.stack(self.modes.single.powers[:2])
        return np.einsum("sgk,shk,jsk,j->sgh", A, A, single, self.polynomial(common))

    def screened_sources_of_groups(self, common: Array, w: Array) -> Array:
        """Compute the derivative of the same by V1_hat between groups, at fixed q.

        It is an average of `t t^T` over b, with `t = w - beta D(b) M(b) w`.
        """
        modes, w_modes = self.modes, np.einsum("sgk,sg->sk", self.modes.A, w)
        single, pair = np.stack(modes.single.powers), modes.pair(modes)
        on_groups = self.bulk.rows.beta * self.V2[:, :, None] * modes.A * w_modes[:, None]
        c = product(self.polynomial(common), modes.rows.norms)
        mean = np.einsum("jg,jsk,sgk->sg", c, single, on_groups)
        square = contract(
            "jgh,jskl,sgk,shl->sgh",
            product(c, modes.rows.norms), pair, on_groups, on_groups
        )  # fmt: skip
        mixed = w[:, :, None] * mean[:, None]
        return common.sum() * w[:, :, None] * w[:, None] + square - mixed - mixed.transpose(0, 2, 1)

    def terms(self, other: Self) -> ResponseTerms:
        """Compute the terms of V, and of the derivative of the pair."""
        return self.modes.terms(other.modes)

    def sources(self, other: Self, hats: Hats, others: Hats) -> Sources:
        """Compute minus the derivative of z K z by the hats: through q, and at fixed q."""
        beta, forms = self.beta, self.pair_forms(other)
        one, two = self.in_modes(hats), other.in_modes(others)
        c, left, right = self.bulk.rows.norms, one.rows, two.rows
        squares = contract("jg,jsklxy,sgxk,sgyl->sg", c, forms[:2], left, right)
        squares += two.norms * np.einsum("sgxk,skx->sg", left, self.forms[0, ..., 0])
        squares += one.norms * np.einsum("sgxk,skx->sg", right, other.forms[0, ..., 0])
        squares += one.norms * two.norms
        left, right = one.functions, two.functions
        direct = beta**2 * contract("uvsklxy,usrxk,vstyl->srt", forms[SUMS], left, right)
        direct -= one.spike[:, :, None] * two.spike[:, None, :]
        return in_parts(self.triangle, beta * squares, direct)

    def screened_sources(self, other: Self, common: Array, w: Array, v: Array) -> Sources:
        """Compute the derivative of `w screened(common) v`: through q, and at fixed q."""
        one, by, powers = self.modes, other.modes, self.modes.pair(other.modes)
        polynomial = self.polynomial(common)
        w_modes, v_modes = np.einsum("sgk,sg->sk", one.A, w), np.einsum("sgk,sg->sk", by.A, v)
        powers = powers * w_modes[:, :, None] * v_modes[:, None, :]
        norms = product(polynomial, one.rows.norms)
        through_q = contract("jg,jskl,sgk,sgl->sg", norms, powers[:3], one.A, by.A)
        between = np.einsum("j,jskl->skl", polynomial, powers[:2])
        direct = np.einsum("skl,sik,sjl->sij", between, one.dual, by.dual)
        return in_parts(self.triangle, self.beta * through_q, direct)
