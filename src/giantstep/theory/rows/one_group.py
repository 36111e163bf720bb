"""One group of neurons whose rows have any covariance C/d: theory.md section 13.

With t = beta V1_hat q, all that the readout needs of the rows are the trace
`phi(t) = tr C (1 + t C)^-1` and a matrix K(t) = beta q Psi(t), for the projections on the spike and
on the target's directions across it, and for the norm: functions of t alone (`row_functions`). And
`q (L + V1_hat phi(t)) = 1` makes t a function of L/V1_hat alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from giantstep.arrays import Array, Complex, RealOrComplex
from giantstep.numerics.differences import with_slope
from giantstep.numerics.packed_symmetric import triangle_of
from giantstep.theory.rows.interface import (
    Bulk,
    ContinuedVariances,
    GroupOverlaps,
    Hats,
    Sources,
    SpikeResponse,
    in_parts,
)
from giantstep.theory.rows.isotropic import IsotropicBulk, response_of_one_group
from giantstep.theory.rows.response import ResponseTerms, solve_self_consistency, variances_at
from giantstep.theory.rows.row_functions import RowFunctions, Traces


@dataclass(frozen=True, eq=False)
class OneGroupBulk(Bulk):
    """Rows of any covariance; one group of neurons.

    Attributes
    ----------
    isotropic : IsotropicBulk
        The isotropic bulk of the same variance.
    rows : RowFunctions
        The traces and forms of their covariance.
    norm_variance : float
        d times the variance of |b|^2/c - 1.
    at_complex_ridges : callable
        Makes the variances there.
    of_mean_row : callable, optional
        The factor by which the readout filters the mean row, as a function of t: by default tr (1 +
        t C)^-1.
    """

    isotropic: IsotropicBulk
    rows: RowFunctions
    norm_variance: float
    at_complex_ridges: Callable[[], ContinuedVariances]
    of_mean_row: Callable[[Complex], Complex] | None = None

    def variances(self, V1_hat: Array, L: Array) -> tuple[Array, Array]:
        """Map the hats to V and T."""
        A, beta = V1_hat[:, :, 0], self.isotropic.beta

        def traces(q: Array) -> Traces:
            return self.rows.traces((beta * A * q)[:, 0])

        def load(q: Array) -> tuple[Array, Array]:
            at = traces(q)
            return A * at.phi[:, None], -beta * A[:, :, None] ** 2 * at.dphi[:, None, None]

        start = response_of_one_group(self.isotropic.groups.c * A, L, beta)
        q = solve_self_consistency(L, start, load)
        return variances_at(A[:, 0], L[:, 0], traces(q), beta)

    def continued(self) -> ContinuedVariances:
        """Return the variances at complex ridges."""
        return self.at_complex_ridges()

    def spike_response(self, V1_hat: Array, V: Array) -> OneGroupResponse:
        """Compute how the readout responds at a solution."""
        return OneGroupResponse(self, V1_hat, V)

    def response(self, t: RealOrComplex) -> RealOrComplex:
        """Compute Psi(t) along the spike, with the norm and across, shape (S, D + 2, D + 2).

        The covariance of (b, norm) is filtered by the readout, and the direction of the spike,
        which the readout treats apart, taken out of that filter.
        """
        resolvent, filtered = self.rows.forms(t)
        along = resolvent[:, :1, :1].copy()
        resolvent[:, :-1, :-1] = filtered
        resolvent[:, -1, -1] = self.norm_variance - t * resolvent[:, -1, -1]
        unit = np.ones(resolvent.shape[-1])
        unit[-1] = self.isotropic.groups.c[0] / 2  # |b|^2/2 for |b|^2/c - 1
        resolvent *= np.multiply.outer(unit, unit)
        column, order = resolvent[:, :, :1], np.r_[0, -1, 1 : resolvent.shape[-1] - 1]
        resolvent = resolvent + t[:, None, None] / along * column @ column.swapaxes(1, 2)
        return resolvent[:, order][:, :, order]


class OneGroupResponse(SpikeResponse):
    """Overlaps along the spike, with the norms and across the spike."""

    def __init__(self, bulk: OneGroupBulk, V1_hat: Array, V: Array) -> None:
        self.bulk, self.beta, self.V2 = bulk, bulk.isotropic.beta, V[:, 1:]
        self.triangle, self.pi = triangle_of(1), bulk.isotropic.groups.pi
        self.V1, self.A, q = V[:, :1], V1_hat[:, 0, 0], V[:, 1]
        self.at = bulk.rows.traces(self.beta * self.A * q)
        self.psi, self.psi_slope = with_slope(bulk.response, self.at.t)
        self.K = self.beta * q[:, None, None] * self.psi
        self.along = 2

    @cached_property
    def mean_row(self) -> tuple[Array, Array]:
        """The factor by which the readout filters the mean row, and its derivative by t."""
        rows = self.bulk.rows
        return with_slope(self.bulk.of_mean_row or (lambda t: rows.traces(t).f), self.at.t)

    def of_groups(self, direction: Array, q: Array, hats: Hats) -> GroupOverlaps:
        """Compute the overlaps of the one group of neurons, of which B is one."""
        overlaps = np.einsum("sij,sj->si", self.K, hats.z)
        return GroupOverlaps(
            V1=self.V1[:, :, None],
            q1=q[:, :1, None],
            zeta=overlaps[:, :1],
            psi=overlaps[:, 2:] @ self.bulk.isotropic.first_across[:, None],
            xi=overlaps[:, 1:2],
        )

    def screened(self, common: Array) -> Array:
        """Compute M, averaged over the rows' covariance, times the sum of `common`: (S, 1, 1)."""
        return common.sum() * (self.A * self.mean_row[0])[:, None, None]

    def screened_sources_of_groups(self, common: Array, w: Array) -> Array:
        """Return zero: they are in `q` already, from which `of_groups` takes q1."""
        return np.zeros((len(w), 1, 1))

    def _divided(self, other: Self, f: Array, g: Array, slope: Array) -> tuple[Array, Array]:
        """Compute the divided differences of f(t) and of t f(t)."""
        t, s = (at.t.reshape(-1, *[1] * (f.ndim - 1)) for at in (self.at, other.at))
        gap = np.where(t == s, 1, t - s)
        divided = np.where(t == s, slope, (f - g) / gap)
        return divided, (f + g) / 2 + (t + s) / 2 * divided

    def terms(self, other: Self) -> ResponseTerms:
        """Compute the terms of V, and of the derivative of the pair."""
        both = self._divided(other, self.at.phi, other.at.phi, self.at.dphi)
        dphi, slope = (x[:, None, None, None] for x in both)
        qq, AA = (self.V2 * other.V2)[:, :, None, None], (self.A * other.A)[:, None, None]
        decrease, products = -self.beta * AA * dphi[..., 0], -qq * dphi
        return ResponseTerms(self.V1[:, :, None], slope, decrease, products[..., None])

    def sources(self, other: Self, hats: Hats, others: Hats) -> Sources:
        """Compute minus the derivative of z K z by the hats: through V2, and at fixed V2."""
        z, y = hats.z, others.z
        both = self._divided(other, self.psi, other.psi, self.psi_slope)
        slope, through_V2 = (np.einsum("si,sij,sj->s", z, part, y)[:, None] for part in both)
        direct = -(self.beta**2) * self.V2 * other.V2 * slope
        return in_parts(self.triangle, self.beta * through_V2, direct[:, :, None])

    def screened_sources(self, other: Self, common: Array, w: Array, v: Array) -> Sources:
        """Compute the derivative of `w screened(common) v`: through q, and at fixed q."""
        (f, df), (g, _), squares = self.mean_row, other.mean_row, common.sum() * w * v
        df, direct = (x[:, None] for x in self._divided(other, f, g, df))
        through_q = -squares * self.beta * (self.A * other.A)[:, None] * df
        return in_parts(self.triangle, through_q, (squares * direct)[:, :, None])
