"""Rows after several steps on one batch, as functions of t and at complex ridges.

Their resolvent is that of `reused_resolvent`. What it leaves out are the norms of the rows.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from giantstep.arrays import Array, Complex
from giantstep.numerics.linear_systems import solve_small
from giantstep.problems.protocol import Protocol
from giantstep.theory.features.bulk.continued_rows import ContinuedRows
from giantstep.theory.features.bulk.one_group import variances_at
from giantstep.theory.features.bulk.row_forms import Forms
from giantstep.theory.features.bulk.row_functions import RowFunctions, as_columns
from giantstep.theory.features.bulk.row_resolvent import Traces
from giantstep.theory.features.reused_batch import reused_batch

# Relative precision of the functions of t, below that of the rules over samples: of product rules,
# after up to two steps, and of quasi-random ones.
_PRECISION, _OF_QUASI_RANDOM = 1e-6, 1e-4
# Fineness of the rules at complex ridges, where the resolvent is solved thousands of times.
_COARSE = 0


@lru_cache(maxsize=16)
def reused_row_functions(protocol: Protocol, fineness: int = 1) -> RowFunctions:
    """Compute the functions after the last step of a protocol that reuses its batch.

    Parameters
    ----------
    protocol : Protocol
        With a uniform readout.
    fineness : int
        Multiplies the number of nodes of all rules.
    """
    batch = reused_batch(protocol, fineness)

    def functions(t: Array) -> Array:
        G = batch.rows.solve(t)
        phi, filtered = G[:, batch.rows.last, batch.rows.last], batch.rows.forms(t, G, batch.basis)
        m = len(batch.basis)
        resolvent = np.zeros((t.size, m + 1, m + 1))
        resolvent[:, :m, :m] = np.eye(m) - t[:, None, None] * filtered
        return as_columns(1 - t * phi, phi, Forms(resolvent, filtered))

    precision = _PRECISION if protocol.steps <= 2 else _OF_QUASI_RANDOM
    c = batch.states[-1].bulk_variance
    if fineness == 1:
        return RowFunctions.fitted(c, functions, precision)
    # Finer rules need polynomials of the same degree.
    least = reused_row_functions(protocol, 1).degree
    return RowFunctions.fitted(c, functions, precision, least=least)


class ContinuedReusedRows(ContinuedRows):
    """The map from complex hats to V and T, near a solution; see `ContinuedRows`.

    The unknowns are t and the matrix G of `ReusedResolvent`.
    """

    def __init__(self, protocol: Protocol, beta: float) -> None:
        self.rows, self.beta = reused_batch(protocol, _COARSE).rows, beta

    def far_response(self, V1_hat: Complex, L: Complex) -> Complex:
        """Compute the unknowns far above the real axis, where t is small."""
        t = self.beta * V1_hat[:, 0, 0] / L[:, 0]
        return np.column_stack([t, np.tile(self.rows.at_zero.ravel(), (t.size, 1))])

    def variances_near(
        self, V1_hat: Complex, L: Complex, near: Complex
    ) -> tuple[Complex, Complex, Complex]:
        """Map complex hats to V and T by one Newton step; the response is the unknowns."""
        A, L, t, k, m = V1_hat[:, 0, 0], L[:, 0], near[:, 0], self.rows.last, self.rows.order
        G = near[:, 1:].reshape(-1, m, m)
        mapped, slope = self.rows.map(t, G)
        load, place = L / A + G[:, k, k], 1 + k * m + k
        jacobian = np.zeros((t.size, m * m + 1, m * m + 1), dtype=complex)
        jacobian[:, 0, 0], jacobian[:, 0, place] = load, t
        jacobian[:, 1:, 0] = (mapped[:, :, k, None] * mapped[:, k, None]).reshape(t.size, -1)
        jacobian[:, 1:, 1:] = np.eye(m * m) - slope
        right = np.zeros((t.size, m * m + 1, 2), dtype=complex)
        right[:, 0, 0], right[:, 1:, 0] = self.beta - t * load, (mapped - G).reshape(t.size, -1)
        right[:, 0, 1] = -t  # by L/V1_hat
        step, by_ratio = np.moveaxis(solve_small(jacobian, right), -1, 0)
        reached = near + step
        t, phi, dphi = reached[:, 0], reached[:, place], by_ratio[:, place] / by_ratio[:, 0]
        V, T = variances_at(A, L, Traces(t, 1 - t * phi, phi, -phi - t * dphi, dphi), self.beta)
        return V, T, reached
