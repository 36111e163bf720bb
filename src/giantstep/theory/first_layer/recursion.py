"""Gradient steps on fresh batches, each from the network as it stands: theory.md section 13.

With a uniform readout all neurons share one spike after every step, for any activation and any
target. The paper's step is the first.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.losses import SQUARE, lookup_loss
from giantstep.problems.protocol import Protocol
from giantstep.problems.targets import teacher_of
from giantstep.theory.first_layer.continued_rows import ContinuedRows
from giantstep.theory.first_layer.covariance_step import CovarianceStep
from giantstep.theory.first_layer.descent import Descent
from giantstep.theory.first_layer.fresh_step import next_step
from giantstep.theory.first_layer.interface import Scope
from giantstep.theory.first_layer.network_state import NetworkState, check_weights
from giantstep.theory.first_layer.row_forms import forms_after
from giantstep.theory.first_layer.row_norms import own_output_norms
from giantstep.theory.first_layer.row_resolvent import solve_self_energy
from giantstep.theory.rows.row_functions import FEWER, MOST, RowFunctions, as_columns

# As in `RowFunctions.fitted`.
_TOLERANCE = 1e-10


def plain_descent(step: Protocol) -> tuple[Protocol, float]:
    """State a step as one of plain descent, and the factor on all rows' squared length after it.

    With weight decay, `w <- (1 - decay) w + step` is a step at the rate over 1 - decay, after which
    all rows are shorter.
    """
    if not step.decay:
        return step, 1.0
    kept = 1 - step.decay
    return replace(step, learning_rate=step.learning_rate / kept, decay=0.0), kept**2


# Protocols that have their first steps in common share the states and the rows after them.
@lru_cache(maxsize=1024)
def _state_after(step: Protocol, before: NetworkState, fineness: int) -> NetworkState:
    """Compute the state after one more step."""
    plain, stretch = plain_descent(step)
    state = next_step(plain, before, fineness).take().stretched(stretch)
    check_weights(plain, state.bulk_variance, state.spike_strength)
    return state


@lru_cache(maxsize=256)
def _rows_after(
    of: Protocol, state: NetworkState, rows: RowFunctions, fineness: int
) -> RowFunctions:
    """Compute the traces and forms of the rows after one more step, from those before it."""
    plain, stretch = plain_descent(of)
    step = CovarianceStep(plain, state, fineness)
    sigma = rows.covariance(step.norm_variance)

    def functions(t: Array) -> Array:
        at = solve_self_energy(step, rows.traces, t)
        forms = forms_after(step, sigma, at, rows.forms(at.before.t))
        return as_columns(at.f, at.phi, forms)

    after, most = _state_after(of, state, fineness), MOST if fineness == 1 else FEWER
    scale = after.bulk_variance / stretch
    return RowFunctions.fitted(scale, functions, _TOLERANCE, most).stretched(stretch)


class Recursion(Descent):
    """Steps on fresh batches from a uniform readout."""

    takes = frozenset({"decay", "step_loss"})
    takes_schedules = True

    @property
    def descent(self) -> Protocol:
        """The protocol of the first step, as plain descent."""
        return plain_descent(super().descent)[0]

    @cached_property
    def states(self) -> tuple[NetworkState, ...]:
        """The network before its first step and after each."""
        return self.states_on(self.fineness)

    def states_on(self, fineness: int) -> tuple[NetworkState, ...]:
        """Compute them on rules of some fineness."""
        states = [NetworkState.at_initialisation(self.protocol.target)]
        for step in self.protocol.each_step:
            states.append(_state_after(step, states[-1], fineness))
        return tuple(states)

    def rows_in_limit(self) -> tuple[RowFunctions, NetworkState]:
        """Compute the rows' functions and the state after the last step."""
        states = self.states_on(self.fineness)
        rows = RowFunctions.at_initialisation(np.size(states[0].alignment))
        for step, state in zip(self.protocol.each_step, states[:-1], strict=True):
            rows = _rows_after(step, state, rows, self.fineness)
        return rows, states[-1]

    def at_complex_ridges(self) -> ContinuedRows:
        """Return the variances at complex ridges."""
        return ContinuedRows(map(plain_descent, self.protocol.each_step), self.states[:-1])

    def own_norms(self, dimension: float) -> Array:
        """Compute what the own output adds to the squared norm of rows in one step."""
        (of,) = self.protocol.each_step
        plain, stretch = plain_descent(of)
        if plain.step_loss == SQUARE:
            return stretch * own_output_norms(plain, dimension)
        step = next_step(plain, self.states[0], self.fineness)
        curvature, squared, _ = step.curvatures.sum(axis=1)
        mean = float(step.powers[1].sum())
        return stretch * own_output_norms(plain, dimension, mean, curvature, squared)

    def scope(self) -> list[Scope]:
        """List what this layer covers."""
        of, loss = self.problem, lookup_loss(self.problem.step_loss)
        known = of.step_loss == SQUARE or not teacher_of(of.target)
        smooth = of.steps == 1 or not (loss.margin and loss.corners)
        return [
            ("step_loss", known, f"{SQUARE} in the theory of targets of several directions"),
            ("step_loss", smooth, "logistic or square in several steps on labels of +1 and -1"),
        ]

    def learned_by_chance(self, dimension: float) -> float:
        """Leave it out for other losses than the square, which see more of the target."""
        return super().learned_by_chance(dimension) * (self.protocol.step_loss == SQUARE)
