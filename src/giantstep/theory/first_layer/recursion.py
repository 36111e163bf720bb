"""Gradient steps on fresh batches, each from the network as it stands: theory.md section 13.

With a uniform readout all neurons share one spike after every step, for any activation and any
target. The paper's step is the first.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.first_layer.continued_rows import ContinuedRows
from giantstep.theory.first_layer.covariance_step import CovarianceStep
from giantstep.theory.first_layer.descent import Descent
from giantstep.theory.first_layer.fresh_step import next_step
from giantstep.theory.first_layer.network_state import (
    NetworkState,
    check_weights,
    features_in_state,
)
from giantstep.theory.first_layer.row_forms import forms_after
from giantstep.theory.first_layer.row_norms import own_output_norms
from giantstep.theory.first_layer.row_resolvent import solve_self_energy
from giantstep.theory.rows.row_functions import FEWER, MOST, RowFunctions, as_columns

# As in `RowFunctions.fitted`.
_TOLERANCE = 1e-10
# Values of t times samples, of which arrays stay in the processor's cache.
_CACHED = 40_000


class FreshSteps:
    """A network that takes one step after another, with what its rows remember.

    Parameters
    ----------
    protocol : Protocol
        Of one step, with a uniform readout.
    fineness : int
        Multiplies the number of nodes of all rules.
    stretch : float
        Factor on the squared length of all rows after each step.
    """

    def __init__(self, protocol: Protocol, fineness: int, stretch: float = 1.0) -> None:
        self._protocol, self._fineness, self._stretch = protocol, fineness, stretch
        self._states = [NetworkState.at_initialisation(protocol.target)]
        self._rows = [RowFunctions.at_initialisation(np.size(self._states[0].alignment))]

    def states(self, steps: int) -> tuple[NetworkState, ...]:
        """Compute the state before the first step and after each of so many.

        Raises
        ------
        InvalidParametersError
            If a step is too large.
        """
        while len(self._states) <= steps:
            step = next_step(self._protocol, self._states[-1], self._fineness)
            state = step.take().stretched(self._stretch)
            check_weights(self._protocol, state.bulk_variance, state.spike_strength)
            self._states.append(state)
        return tuple(self._states[: steps + 1])

    def rows(self, steps: int) -> RowFunctions:
        """Compute the traces and forms of the rows after so many steps."""
        states = self.states(steps)
        while len(self._rows) <= steps:
            before, after = states[len(self._rows) - 1 : len(self._rows) + 1]
            step = CovarianceStep(self._protocol, before, self._fineness)
            scale = after.bulk_variance / self._stretch
            most = MOST if self._fineness == 1 else FEWER
            rows = _after(self._rows[-1], step, scale, most)
            self._rows.append(rows.stretched(self._stretch) if self._stretch != 1 else rows)
        return self._rows[steps]


def _after(rows: RowFunctions, step: CovarianceStep, scale: float, most: int) -> RowFunctions:
    """Compute the functions after a step; `scale` is c there, `most` the largest degree."""
    sigma = rows.covariance(step.norm_variance)

    def functions(t: Array) -> Array:
        count = min(t.size, math.ceil(t.size * step.samples.weight.size / _CACHED))
        columns = []
        for part in np.array_split(t, count):
            at = solve_self_energy(step, rows.traces, part)
            forms = forms_after(step, sigma, at, rows.forms(at.before.t)[0])
            columns.append(as_columns(at.f, at.phi, forms))
        return np.concatenate(columns)

    return RowFunctions.fitted(scale, functions, _TOLERANCE, most)


_fresh_steps = lru_cache(maxsize=256)(FreshSteps)


def fresh_steps(protocol: Protocol, fineness: int = 1, stretch: float = 1.0) -> FreshSteps:
    """Return the network of a protocol; those that differ in their number of steps share it.

    Examples
    --------
    >>> from giantstep import Protocol
    >>> states = fresh_steps(Protocol("tanh", "sin", 2, alpha0=20, beta=1)).states(2)
    >>> [round(state.alignment, 6) for state in states[1:]]
    [0.971854, 0.995029]

    On a target of several directions, the overlap of the spike with each of them:

    >>> staircase = Protocol("softplus", "z1+z1*z2", 1, alpha0=4, beta=1)
    >>> [round(overlap, 2) for overlap in fresh_steps(staircase).states(2)[-1].alignment]
    [0.87, 0.11]
    """
    return _fresh_steps(replace(protocol, steps=1, reuse_batch=False), fineness, stretch)


class Recursion(Descent):
    """Steps on fresh batches from a uniform readout.

    With weight decay, `w <- (1 - decay) w + step` is a step at the rate over 1 - decay, after which
    all rows are shorter.
    """

    takes = frozenset({"decay"})

    @property
    def stretch(self) -> float:
        """Factor on the squared length of all rows after each step."""
        return (1 - self.protocol.decay) ** 2

    @cached_property
    def descent(self) -> Protocol:
        """The protocol of the steps, after each of which rows are stretched."""
        if not self.protocol.decay:
            return self.protocol
        rate = self.protocol.learning_rate / (1 - self.protocol.decay)
        return replace(self.protocol, learning_rate=rate, decay=0.0)

    @cached_property
    def states(self) -> tuple[NetworkState, ...]:
        """The network before its first step and after each."""
        return self._network(self.fineness).states(self.protocol.steps)

    def _network(self, fineness: int) -> FreshSteps:
        return fresh_steps(self.descent, fineness, self.stretch)

    @property
    def history(self) -> tuple[NetworkState, ...]:
        """The network after each of its steps."""
        return self.states[1:]

    @cached_property
    def limit(self) -> SpikedFeatures:
        """The equivalent features as d -> infinity."""
        return features_in_state(self.protocol, self.states[-1])

    def rows_in_limit(self) -> tuple[RowFunctions, NetworkState]:
        """Compute the rows' functions and the state after the last step."""
        network, steps = self._network(self.fineness), self.protocol.steps
        return network.rows(steps), network.states(steps)[-1]

    def at_complex_ridges(self) -> ContinuedRows:
        """Return the variances at complex ridges."""
        return ContinuedRows(self.descent, self.states[:-1], self.stretch)

    def own_norms(self, dimension: float) -> Array:
        """Compute what the own output adds to the squared norm of rows in one step."""
        return self.stretch * own_output_norms(self.descent, dimension)
