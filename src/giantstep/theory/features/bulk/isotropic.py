"""The isotropic bulk of the paper."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from giantstep.arrays import Array, Complex
from giantstep.numerics.packed_symmetric import triangle_of
from giantstep.problems.spiked_features import Groups
from giantstep.theory.features.bulk.interface import GroupOverlaps
from giantstep.theory.features.bulk.isotropic_variances import (
    Screened,
    load_decrease,
    response_near,
    screened,
    variances,
    variances_at,
)
from giantstep.theory.features.bulk.response import response_derivative


@dataclass(frozen=True, eq=False)
class IsotropicBulk:
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
    """

    B: Array
    groups: Groups
    beta: float
    first_across: Array = field(default_factory=lambda: np.ones(1))
    beside: Array = field(default_factory=lambda: np.empty((1, 0)))

    @property
    def floats_per_point(self) -> int:
        """Size of the largest array at one point."""
        return self.B.size**2

    def variances(self, V1_hat: Array, L: Array) -> tuple[Array, Array]:
        """Map the hats to V and T."""
        return variances(V1_hat, L, self.B, self.groups, self.beta)

    @property
    def continued(self) -> IsotropicBulk:
        """The variances at complex ridges."""
        return self

    def far_response(self, V1_hat: Complex, L: Complex) -> Complex:
        """Compute q far above the real axis, where the load vanishes."""
        return 1 / L

    def variances_near(
        self, V1_hat: Complex, L: Complex, near: Complex
    ) -> tuple[Complex, Complex, Complex]:
        """Map complex hats to V and T; the response is q."""
        q = response_near(near, V1_hat, L, self.B, self.groups, self.beta)
        V, T = variances_at(q, V1_hat, self.B, self.groups, self.beta)
        return V, T, q

    def moved(self, response: Complex, dV: Complex) -> Complex:
        """Leave q, which `variances_near` solves for."""
        return response

    def spike_response(self, V1_hat: Array, V: Array) -> IsotropicResponse:
        """Compute how the readout responds at a solution."""
        return IsotropicResponse(self, V1_hat, V)


class IsotropicResponse:
    """Overlaps with an isotropic bulk: `zeta = beta c V2 zeta_hat`, `psi = beta V1 psi_hat`."""

    mixed: Array | None = None

    def __init__(self, bulk: IsotropicBulk, V1_hat: Array, V: Array) -> None:
        self.bulk, self.V1_hat = bulk, V1_hat
        self.triangle = triangle_of(bulk.B.shape[1])
        self.V1 = self.triangle.unpack(V[:, : self.triangle.size])
        self.V2 = V[:, self.triangle.size :]
        B = bulk.B
        along = bulk.beta * ((B.T * (bulk.groups.c * self.V2)[:, None, :]) @ B)
        self.along = np.kron(np.eye(1 + bulk.beside.shape[1]), along).astype(float, copy=False)
        repeated = np.kron(np.eye(bulk.first_across.size), self.V1).astype(float, copy=False)
        self.across = bulk.beta * repeated

    def of_groups(self, direction: Array, zeta_hat: Array, psi_hat: Array) -> GroupOverlaps:
        """Compute V1, q1 and the overlaps between groups from those between the functions phi."""
        (c, _, pi, _), beta = self.bulk.groups, self.bulk.beta
        q, split = self.V2 / pi, self.triangle.size
        dA, dL = self.triangle.unpack(direction[:, :split]), direction[:, split:]
        M, BK, _ = self.matrices
        gradient = c * np.einsum("sgr,srt,sgt->sg", BK, dA, BK)
        decrease = load_decrease(M, self.bulk.groups, beta)
        slope = response_derivative(q, gradient[:, :, None], decrease)
        dq = slope[:, :, 0] + np.einsum("sgh,sh->sg", slope[:, :, 1:], dL)
        d = pi * c * q
        W = np.eye(c.size) - beta * d[:, :, None] * M  # (I + beta D V1_hat)^-1
        V1B = d[:, :, None] * BK
        V1 = W * d[:, None, :]
        dV1 = (W * (pi * c * dq)[:, None, :]) @ W.transpose(0, 2, 1)
        dV1 -= beta * V1B @ dA @ V1B.transpose(0, 2, 1)
        zeta = beta * (c * self.V2)[:, None] * self.by_spike(zeta_hat)
        first = np.einsum("d,sdr->sr", self.bulk.first_across, self.by_direction(psi_hat))
        psi = beta * np.einsum("sgr,sr->sg", V1B, first)
        V1 = (V1 + V1.transpose(0, 2, 1)) / 2
        # Averaged over their further directions, spikes curve the mean features.
        xi = np.einsum("sjg,gj->sg", zeta[:, 1:], self.bulk.beside)
        return GroupOverlaps(V1, -dV1, zeta[:, 0], psi, xi)

    def by_spike(self, zeta_hat: Array) -> Array:
        """Compute the hats of groups by the spikes' directions, shape (S, r, G)."""
        spikes = 1 + self.bulk.beside.shape[1]
        hats = zeta_hat.reshape(len(zeta_hat), spikes, self.triangle.order)
        return hats @ self.bulk.B.T

    def by_direction(self, psi_hat: Array) -> Array:
        """Separate the directions across the spike, shape (S, D, R)."""
        directions = self.bulk.first_across.size
        return psi_hat.reshape(len(psi_hat), directions, self.triangle.order)

    @cached_property
    def matrices(self) -> Screened:
        """The matrices of theory.md section 4 at the solution."""
        bulk = self.bulk
        return screened(self.V2 / bulk.groups.pi, self.V1_hat, bulk.B, bulk.groups, bulk.beta)

    def screened(self, rows: Array) -> Array:
        """Compute M, times the sum of `rows`, shape (S, G, G)."""
        return rows.sum() * self.matrices.M

    def screened_sources_of_groups(self, rows: Array, w: Array) -> Array:
        """Compute the derivative of the same by V1_hat between groups, at fixed q."""
        Mw = np.einsum("sgh,sh->sg", self.matrices.M, w)
        slope = w - self.bulk.beta * self.bulk.groups.c * self.V2 * Mw
        return rows.sum() * slope[:, :, None] * slope[:, None, :]
