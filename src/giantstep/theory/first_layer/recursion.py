"""Gradient steps on fresh batches, each from the network as it stands: theory.md section 13.

With a uniform readout all neurons share one spike after every step, for any activation and any
target. The paper's step is the first.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import NamedTuple

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
# Values of t times samples, of which arrays stay in the processor's cache.
_CACHED = 40_000


class Network(NamedTuple):
    """A network with a uniform readout that takes one step after another.

    Attributes
    ----------
    protocol : Protocol
        Of one step: protocols that differ in their number share the first ones.
    fineness : int
        Multiplies the number of nodes of all rules.
    stretch : float
        Factor on the squared length of all rows after each step.
    """

    protocol: Protocol
    fineness: int
    stretch: float


@lru_cache(maxsize=1024)
def _state_after(steps: int, network: Network) -> NetworkState:
    """Compute the state after some steps."""
    protocol, fineness, stretch = network
    if steps == 0:
        return NetworkState.at_initialisation(protocol.target)
    step = next_step(protocol, _state_after(steps - 1, network), fineness)
    state = step.take().stretched(stretch)
    check_weights(protocol, state.bulk_variance, state.spike_strength)
    return state


@lru_cache(maxsize=256)
def _rows_after(steps: int, network: Network) -> RowFunctions:
    """Compute the traces and forms of the rows after some steps."""
    protocol, fineness, stretch = network
    if steps == 0:
        return RowFunctions.at_initialisation(np.size(_state_after(0, network).alignment))
    rows = _rows_after(steps - 1, network)
    step = CovarianceStep(protocol, _state_after(steps - 1, network), fineness)
    sigma = rows.covariance(step.norm_variance)

    def functions(t: Array) -> Array:
        count = min(t.size, math.ceil(t.size * step.samples.weight.size / _CACHED))
        columns = []
        for part in np.array_split(t, count):
            at = solve_self_energy(step, rows.traces, part)
            forms = forms_after(step, sigma, at, rows.forms(at.before.t))
            columns.append(as_columns(at.f, at.phi, forms))
        return np.concatenate(columns)

    scale, most = _state_after(steps, network).bulk_variance, MOST if fineness == 1 else FEWER
    return RowFunctions.fitted(scale / stretch, functions, _TOLERANCE, most).stretched(stretch)


class Recursion(Descent):
    """Steps on fresh batches from a uniform readout.

    With weight decay, `w <- (1 - decay) w + step` is a step at the rate over 1 - decay, after which
    all rows are shorter.
    """

    takes = frozenset({"decay", "step_loss"})

    @property
    def stretch(self) -> float:
        """Factor on the squared length of all rows after each step."""
        return (1 - self.protocol.decay) ** 2

    @cached_property
    def descent(self) -> Protocol:
        """The protocol of the steps, after each of which rows are stretched."""
        rate = self.protocol.learning_rate / (1 - self.protocol.decay)
        return replace(self.protocol, learning_rate=rate, decay=0.0)

    def network(self, fineness: int) -> Network:
        """Return the network that takes these steps."""
        one_step = replace(self.descent, steps=1, reuse_batch=False)
        return Network(one_step, fineness, self.stretch)

    @cached_property
    def states(self) -> tuple[NetworkState, ...]:
        """The network before its first step and after each."""
        return self.states_on(self.fineness)

    def states_on(self, fineness: int) -> tuple[NetworkState, ...]:
        """Compute them on rules of some fineness."""
        network = self.network(fineness)
        return tuple(_state_after(k, network) for k in range(self.protocol.steps + 1))

    def rows_in_limit(self) -> tuple[RowFunctions, NetworkState]:
        """Compute the rows' functions and the state after the last step."""
        network, steps = self.network(self.fineness), self.protocol.steps
        return _rows_after(steps, network), _state_after(steps, network)

    def at_complex_ridges(self) -> ContinuedRows:
        """Return the variances at complex ridges."""
        return ContinuedRows(self.descent, self.states[:-1], self.stretch)

    def own_norms(self, dimension: float) -> Array:
        """Compute what the own output adds to the squared norm of rows in one step."""
        if self.protocol.step_loss == SQUARE:
            return self.stretch * own_output_norms(self.descent, dimension)
        step = next_step(replace(self.descent, steps=1), self.states[0], self.fineness)
        curvature, squared, _ = step.curvatures.sum(axis=1)
        mean = float(step.powers[1].sum())
        return self.stretch * own_output_norms(self.descent, dimension, mean, curvature, squared)

    def scope(self) -> list[Scope]:
        """List what this layer covers."""
        of, loss = self.problem, lookup_loss(self.problem.step_loss)
        known = of.step_loss == SQUARE or not teacher_of(of.target)
        smooth = of.steps == 1 or not (loss.margin and loss.corners)
        return [
            ("step_loss", known, f"{SQUARE} in the theory of targets of several directions"),
            ("step_loss", smooth, "smooth, as logistic is, in that of several steps on margins"),
        ]

    def learned_by_chance(self, dimension: float) -> float:
        """Leave it out for other losses than the square, which see more of the target."""
        return super().learned_by_chance(dimension) * (self.protocol.step_loss == SQUARE)
