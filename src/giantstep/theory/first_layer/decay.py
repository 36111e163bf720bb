"""Steps that take a share off the weights: docs/more-than-one-step.md.

`w <- (1 - decay) w + step` is a step at the rate over 1 - decay, after which all rows are shorter.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from giantstep.arrays import Array
from giantstep.problems.protocol import Protocol
from giantstep.theory.first_layer.continued_rows import ContinuedRows
from giantstep.theory.first_layer.network_state import NetworkState
from giantstep.theory.first_layer.recursion import FreshSteps, Recursion, fresh_steps
from giantstep.theory.first_layer.row_norms import own_output_norms
from giantstep.theory.rows.row_functions import RowFunctions


class Decayed(Recursion):
    """Steps with weight decay, on fresh batches from a uniform readout."""

    takes = frozenset({"decay"})

    @cached_property
    def descent(self) -> Protocol:
        """The protocol of plain descent, before rows are made shorter."""
        rate = self.protocol.learning_rate / (1 - self.protocol.decay)
        return replace(self.protocol, learning_rate=rate, decay=0.0)

    @property
    def stretch(self) -> float:
        """Factor on the squared length of all rows after each step."""
        return (1 - self.protocol.decay) ** 2

    def _network(self, fineness: int) -> FreshSteps:
        return fresh_steps(self.descent, fineness, self.stretch)

    @cached_property
    def states(self) -> tuple[NetworkState, ...]:
        """The network before its first step and after each."""
        return self._network(self.fineness).states(self.protocol.steps)

    def rows_in_limit(self) -> tuple[RowFunctions, NetworkState]:
        """Compute the rows' functions and the state after the last step."""
        return self._network(self.fineness).rows(self.protocol.steps), self.states[-1]

    def at_complex_ridges(self) -> ContinuedRows:
        """Return the variances at complex ridges."""
        return ContinuedRows(self.descent, self.states[:-1], self.stretch)

    def own_norms(self, dimension: float) -> Array:
        """Compute what the own output adds to the squared norm of rows in one step."""
        return self.stretch * own_output_norms(self.descent, dimension)
