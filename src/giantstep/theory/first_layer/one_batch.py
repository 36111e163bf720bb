"""Several steps on one batch: docs/theory/reused-batch.md.

The resolvent of the rows is that of `reused_resolvent`, which leaves out how their norms vary.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np

from giantstep.arrays import Array, Complex
from giantstep.numerics.scalar_functions import lookup
from giantstep.theory.first_layer.continued_rows import ContinuedOneGroup
from giantstep.theory.first_layer.interface import Accuracy
from giantstep.theory.first_layer.network_state import NetworkState
from giantstep.theory.first_layer.one_spike import OneSpike
from giantstep.theory.first_layer.reused_batch import ReusedBatch
from giantstep.theory.first_layer.reused_resolvent import ReusedResolvent
from giantstep.theory.rows.row_functions import Forms, RowFunctions, Traces, as_columns
from giantstep.validation import Fault

# Relative precision of the functions of t. It is no better than that of the rules over samples: of
# product rules, which serve up to two steps,
_PRECISION = 1e-6
# and of quasi-random rules, which serve more.
_OF_QUASI_RANDOM = 1e-4
# Fineness of the rules at complex ridges, where the resolvent is solved thousands of times.
_COARSE = 0


# Networks of all dimensions are the same.
_network_after = lru_cache(maxsize=4)(ReusedBatch)


class OneBatch(OneSpike):
    """Later steps take the batch of the first again."""

    takes = frozenset()
    where = "in the theory of steps that take one batch again"
    left_out = "how norms of rows fluctuate, 1 % of the error in the median, at most 4 %"

    @cached_property
    def network(self) -> ReusedBatch:
        """The network after each of its steps."""
        return _network_after(self.protocol, self.fineness)

    @cached_property
    def states(self) -> tuple[NetworkState, ...]:
        """The network before its first step and after each."""
        return tuple(self.network.states)

    def derivative_faults(self) -> list[Fault]:
        """List the activation if its slope jumps, which few samples do not resolve."""
        if self.protocol.steps <= 2 or not lookup(self.protocol.activation).kinks:
            return []
        allowed = "smooth, for derivatives after more than two steps on one batch"
        return [Fault("activation", self.protocol.activation, allowed)]

    def accuracy(self, kind: str) -> Accuracy:
        """Return the accuracy of a resolved point."""
        return Accuracy(1e-2, 1e-2)  # rules over samples are coarse from the third step on

    @cached_property
    def rows_in_limit(self) -> tuple[RowFunctions, NetworkState]:
        """The rows' functions and the state after the last step."""
        precision = _PRECISION if self.protocol.steps <= 2 else _OF_QUASI_RANDOM
        last = self.states[-1]
        return RowFunctions.fitted(last.bulk_variance, self._columns, precision), last

    def _columns(self, t: Array) -> Array:
        rows, basis = self.network.rows, self.network.basis
        G, m = rows.solve(t), len(basis)
        phi, filtered = G[:, rows.last, rows.last], rows.forms(t, G, basis)
        resolvent = np.zeros((t.size, m + 1, m + 1))
        resolvent[:, :m, :m] = np.eye(m) - t[:, None, None] * filtered
        return as_columns(1 - t * phi, phi, Forms(resolvent, filtered))

    def at_complex_ridges(self) -> ContinuedReusedRows:
        """Return the variances at complex ridges."""
        coarse = ReusedBatch(self.protocol, _COARSE)
        return ContinuedReusedRows(coarse.rows, self.protocol.beta)


class ContinuedReusedRows(ContinuedOneGroup):
    """The unknowns at complex hats are t and the matrix G of `ReusedResolvent`."""

    def __init__(self, rows: ReusedResolvent, beta: float) -> None:
        self.rows, self.beta, self.phi = rows, beta, 1 + rows.last * (rows.order + 1)

    def far_response(self, V1_hat: Complex, L: Complex) -> Complex:
        """Compute the unknowns far above the real axis, where t is small."""
        t = self.beta * V1_hat[:, 0, 0] / L[:, 0]
        return np.column_stack([t, np.tile(self.rows.solve(np.zeros(1)).ravel(), (t.size, 1))])

    def equations(self, unknowns: Complex, ratio: Complex) -> tuple[Complex, Complex]:
        """Evaluate `t (ratio + phi) = beta`, where phi is an entry of G, and G's own equation."""
        t, k, m = unknowns[:, 0], self.rows.last, self.rows.order
        G = unknowns[:, 1:].reshape(-1, m, m)
        mapped, slope = self.rows.map(t, G)
        load = ratio + unknowns[:, self.phi]
        jacobian = np.zeros((t.size, m * m + 1, m * m + 1), dtype=complex)
        jacobian[:, 0, 0], jacobian[:, 0, self.phi] = load, t
        jacobian[:, 1:, 0] = (mapped[:, :, k, None] * mapped[:, k, None]).reshape(t.size, -1)
        jacobian[:, 1:, 1:] = np.eye(m * m) - slope
        return np.column_stack([t * load - self.beta, (G - mapped).reshape(t.size, -1)]), jacobian

    def traces(self, unknowns: Complex, slope: Complex) -> Traces:
        """Compute the traces, and their derivatives along a slope by that of t."""
        t, phi, dphi = unknowns[:, 0], unknowns[:, self.phi], slope[:, self.phi] / slope[:, 0]
        return Traces(t, 1 - t * phi, phi, -phi - t * dphi, dphi)
