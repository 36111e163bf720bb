"""The covariance Sigma of the rows after several steps, with all terms: docs/more-than-one-step.md.

The recursion of theory.md section 13 leaves out some of what a batch's noise does: what it changes
of a row along the direction of the batch's own gradient, which it counts twice; and, in |b|^2, the
square of the step's noise. For one step of an odd activation on a large batch these vanish.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.protocol import Protocol
from giantstep.theory.features.activation_averages import SlopeMoments, slope_moments
from giantstep.theory.features.several_steps import (
    BATCH,
    NORM,
    NetworkState,
    Step,
    network_states,
)


@lru_cache(maxsize=256)
def complete_states(protocol: Protocol, fineness: int = 1) -> tuple[NetworkState, ...]:
    """Compute the state before each step and after the last, with the complete Sigma.

    Parameters
    ----------
    protocol : Protocol
        With a uniform readout and fresh batches.
    fineness : int
        Multiplies the number of nodes of all rules.
    """
    network_states(protocol, fineness)  # refuses steps that are too large
    states = [NetworkState.at_initialisation(protocol.target)]
    for _ in range(protocol.steps):
        states.append(CompleteStep(protocol, states[-1], fineness).take())
    return tuple(states)


class CompleteStep(Step):
    """A step with all terms of the covariance that it gives to the rows."""

    def __init__(self, protocol: Protocol, state: NetworkState, fineness: int) -> None:
        super().__init__(protocol, state, fineness)
        self.rule = (1 + fineness) / 2

    @cached_property
    def slope_moments(self) -> SlopeMoments:
        """Higher moments of sigma' on the nodes over kappa."""
        state = self.state
        shift, std = state.spike_strength * self.kappa, math.sqrt(state.bulk_variance)
        return slope_moments(lookup(self.protocol.activation), shift, std, self.rule)

    def counted_twice(self, rows: Array) -> Array:
        """Return what of the map acts on the batch's direction, and is in its noise as well.

        That is all but the growth of every row.
        """
        of_batch = super().counted_twice(rows)
        of_batch[BATCH] = rows[BATCH, BATCH] - self.growth
        return of_batch

    def linear_map(self) -> Array:
        """Compute how a row's state follows from that before the step, (D + 3, D + 3)."""
        full, A = super().linear_map(), self.activation
        own = self.rate**2 * self.inverse_batch / self.bulk_variance
        full[NORM, BATCH] += own * self.along_batch * self.mean(3, A.slope * A.variance_along)
        return full

    def batch_noise(self) -> Array:
        """Compute the covariance that the batch adds to a row's state, (D + 3, D + 3)."""
        noise, A, s = super().batch_noise(), self.activation, self.slope_moments
        e, b, c, c_next = (
            self.rate, self.inverse_batch, self.state.bulk_variance, self.bulk_variance
        )  # fmt: skip
        with_norm = np.zeros(len(noise))
        with_norm[:BATCH] = e * b * self.expect(3, s.cube)[0, 1:]
        with_norm[BATCH] = self.along_batch * (
            2 * self.growth * c * self.mean(3, A.slope * A.variance_along)
            + e * b * self.mean(4, A.slope * s.cube)
        )
        noise[NORM] += e**2 * b / c_next * with_norm
        noise[:, NORM] += e**2 * b / c_next * with_norm
        mixed = self.mean(3, s.cube_along - c * A.curvature * A.variance)
        square = self.mean(4, s.fourth_power - A.variance**2)
        noise[NORM, NORM] += e**3 * b**2 / c_next**2 * (4 * self.growth * mixed + e * b * square)
        noise[NORM, NORM] += 2 * (1 - self.growth**2 * c / c_next) ** 2
        return noise
