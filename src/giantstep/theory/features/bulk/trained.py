"""The bulk with the whole covariance that gradient steps give to its rows.

Level 3 of theory.md section 13. With t = beta V1_hat q, all that the readout needs of the rows are
the trace `phi(t) = tr C (1 + t C)^-1` and a matrix K(t) = beta q Psi(t), for the projections on the
spike and on the target's directions across it, and for the norm: functions of t alone, that
`row_functions` computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.protocol import SIGN_DESCENT, Protocol
from giantstep.theory.features.bulk.continued_rows import ContinuedRows
from giantstep.theory.features.bulk.interface import GroupOverlaps
from giantstep.theory.features.bulk.isotropic import IsotropicBulk
from giantstep.theory.features.bulk.one_group import OneGroupVariances
from giantstep.theory.features.bulk.reused_rows import ContinuedReusedRows, reused_row_functions
from giantstep.theory.features.bulk.row_functions import RowFunctions, row_functions
from giantstep.theory.features.bulk.row_resolvent import Traces
from giantstep.theory.features.bulk.sign_directions import directions_after_signs
from giantstep.theory.features.bulk.sign_rows import has_sign_rows, rows_after_signs
from giantstep.theory.features.network_state import NetworkState
from giantstep.theory.features.optimizers import plain_descent
from giantstep.theory.features.steps import network_states

_ALONG, _ACROSS, _NORM = 0, slice(1, -1), -1
_WITH_SPIKE = [_ALONG, _NORM]  # the functions of the mean prediction: kappa mu1 and E sigma''

# Bulk variances that differ by less are the same, computed in two ways.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class TrainedBulk:
    """Rows whose covariance is that of all batches; one group of neurons.

    Attributes
    ----------
    isotropic : IsotropicBulk
        Of the same bulk variance.
    protocol : Protocol
    fineness : int
        Multiplies the number of nodes of all rules.
    """

    isotropic: IsotropicBulk
    protocol: Protocol
    fineness: int

    @cached_property
    def _in_the_limit(self) -> tuple[RowFunctions, NetworkState]:
        if has_sign_rows(self.protocol):
            return rows_after_signs(self.protocol, self.fineness)
        signs = self.protocol.optimizer == SIGN_DESCENT
        if signs and (found := directions_after_signs(self.protocol, self.fineness)):
            return found
        descent = plain_descent(self.protocol)
        of = reused_row_functions if descent.reuses_samples else row_functions
        return of(descent, self.fineness), network_states(descent, self.fineness)[-1]

    @cached_property
    def rows(self) -> RowFunctions:
        """The traces and forms after the last step."""
        rows, last = self._in_the_limit
        # At finite dimension rows have other norms, and share more than this spike: `row_norms`.
        c, strength = float(self.isotropic.groups.c[0]), float(self.isotropic.groups.u[0])
        if abs(c - last.bulk_variance) > _ROUNDING * last.bulk_variance:
            rows = rows.with_norm(c, last.bulk_variance)
        share = last.spike_strength / strength if strength > last.spike_strength else 1.0
        if share < 1:
            rows = rows.with_wider_spike(share, last.alignment)
        if self.protocol.is_transfer:
            alignment = share * float(np.ravel(last.alignment)[0])
            rows = rows.for_task(self.protocol.task_overlap, alignment)
        return rows

    @property
    def floats_per_point(self) -> int:
        """Size of the largest array at one point."""
        return 2 * (self.isotropic.first_across.size + 2) ** 2

    def variances(self, V1_hat: Array, L: Array) -> tuple[Array, Array]:
        """Map the hats to V and T."""
        return self._one_group.variances(V1_hat[:, 0, 0], L[:, 0])

    @cached_property
    def _one_group(self) -> OneGroupVariances:
        return OneGroupVariances(self.rows, self.isotropic.beta)

    @property
    def continued(self) -> ContinuedRows:
        """The variances at complex ridges."""
        descent = plain_descent(self.protocol)
        kind = ContinuedReusedRows if descent.reuses_samples else ContinuedRows
        return kind(descent, self.isotropic.beta)

    def spike_response(self, V1_hat: Array, V: Array) -> TrainedResponse:
        """Compute how the readout responds at a solution."""
        return TrainedResponse(self, V1_hat, V)

    def mean_row(self, at: Traces) -> Traces:
        """Return the traces by which the readout screens the rows' mean: of (1 + t C)^-1."""
        return at

    def response(self, t: Array) -> tuple[Array, Array]:
        """Compute Psi(t) and its derivative, shapes (S, D + 2, D + 2).

        The covariance of (b, norm) is filtered by the readout, and the direction of the spike,
        which the readout treats apart, taken out of that filter.
        """
        (R, filtered), (dR, dfiltered) = self.rows.forms(t)
        phi, dphi = R.copy(), dR.copy()
        phi[:, :-1, :-1], dphi[:, :-1, :-1] = filtered, dfiltered
        norms = self._in_the_limit[1].covariance[_NORM, _NORM]
        phi[:, -1, -1] = norms - t * R[:, -1, -1]
        dphi[:, -1, -1] = -(R[:, -1, -1] + t * dR[:, -1, -1])
        unit = np.ones(phi.shape[-1])
        unit[_NORM] = self.isotropic.groups.c[0] / 2  # |b|^2/2 for |b|^2/c - 1
        units = np.multiply.outer(unit, unit)
        phi, dphi = phi * units, dphi * units
        weight = (t / R[:, 0, 0])[:, None, None]
        dweight = (1 / R[:, 0, 0] - t * dR[:, 0, 0] / R[:, 0, 0] ** 2)[:, None, None]
        column, dcolumn = phi[:, :, :1], dphi[:, :, :1]
        mixed = dcolumn @ column.transpose(0, 2, 1)
        outer = column @ column.transpose(0, 2, 1)
        psi = phi + weight * outer
        dpsi = dphi + dweight * outer + weight * (mixed + mixed.transpose(0, 2, 1))
        return psi, dpsi


class TrainedResponse:
    """Overlaps along the spike, with the norms and across the spike."""

    def __init__(self, bulk: TrainedBulk, V1_hat: Array, V: Array) -> None:
        self.bulk, self.beta, self.V2 = bulk, bulk.isotropic.beta, V[:, 1:]
        self.V1, self.A, q = V[:, :1], V1_hat[:, 0, 0], V[:, 1]
        self.at = bulk.rows.traces(self.beta * self.A * q)
        self.psi, self.psi_slope = bulk.response(self.at.t)
        self.K = self.beta * q[:, None, None] * self.psi
        self.along = self.K[:, _WITH_SPIKE][:, :, _WITH_SPIKE]
        self.mixed: Array | None = self.K[:, _WITH_SPIKE, _ACROSS]
        self.across = self.K[:, _ACROSS, _ACROSS]

    def of_groups(self, direction: Array, zeta_hat: Array, psi_hat: Array) -> GroupOverlaps:
        """Compute the overlaps of the one group of neurons."""
        B2 = self.bulk.isotropic.B[0, 0] ** 2
        L = 1 / self.V2 - (self.A * self.at.phi)[:, None]
        _, T = self.bulk.variances(self.A[:, None, None], L)
        z = order_hats(zeta_hat, psi_hat)
        form = np.einsum("si,sij,sj->s", z, self.psi_slope, z)
        direct = -((self.beta * self.V2[:, 0]) ** 2) * form
        q1 = np.einsum("sj,sj->s", T[:, 0], direction) + direct
        overlaps = np.einsum("sij,sj->si", self.K, z)
        return GroupOverlaps(
            V1=(self.V1 * B2)[:, :, None],
            q1=(q1 * B2)[:, None, None],
            zeta=overlaps[:, _ALONG, None],
            psi=overlaps[:, _ACROSS] @ self.bulk.isotropic.first_across[:, None],
            xi=overlaps[:, _NORM, None],
        )

    def screened(self, rows: Array) -> Array:
        """Compute M, averaged over the rows' covariance, times the sum of `rows`: (S, 1, 1)."""
        return rows.sum() * (self.A * self.bulk.mean_row(self.at).f)[:, None, None]

    def screened_sources_of_groups(self, rows: Array, w: Array) -> Array:
        """Compute the derivative of the same by V1_hat between groups, at fixed q: (S, 1, 1)."""
        at = self.bulk.mean_row(self.at)
        return (rows.sum() * w[:, 0] ** 2 * (at.f + at.t * at.df))[:, None, None]


def order_hats(zeta_hat: Array, psi_hat: Array) -> Array:
    """Order the hats as Psi is."""
    return np.concatenate([zeta_hat[:, :1], psi_hat, zeta_hat[:, 1:]], axis=-1)
