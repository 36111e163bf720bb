"""Gradient steps of a first layer on batches of samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, Reals, Single
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.covariance import directions_of
from giantstep.problems.losses import lookup_loss
from giantstep.problems.protocol import SIGN_DESCENT, Protocol
from giantstep.simulation.arithmetic import FEWER_ROWS, block_sizes
from giantstep.simulation.gradients import batch_slopes
from giantstep.simulation.threads import Workers


def take_step(problem: Protocol, weights: Single, step: Reals, rate: float) -> None:
    """Move the weights, of shape (p, d), in place.

    Parameters
    ----------
    problem : Protocol
        Of this step.
    weights : Single, shape (p, d)
    step : Reals, shape (p, d)
        That of gradient descent.
    rate : float
        The length of the rows of a step by signs.
    """
    if problem.optimizer == SIGN_DESCENT:
        step = np.sign(step)
        step *= rate / math.sqrt(step.shape[1])
    if problem.precondition:
        step = step * directions_of(problem.covariance, 0)[0] ** -problem.precondition
    weights *= np.float32(1 - problem.decay)
    weights += step.astype(np.float32, copy=False)


class BatchSteps(NamedTuple):
    """Steps `w_i += rate omega_i E (y - f(x)) sigma'(w_i.x) x`, each a mean over a batch.

    Attributes
    ----------
    problem : Protocol
    omega : Single, shape (p,)
        The readout times sqrt(p): `f(x) = sum_i omega_i sigma(w_i.x)/p`.
    rates : sequence of float
        Of each step.
    samples : sequence of int
        In the batch of each.
    draw : callable
        From the numbers of a batch and of a block in it, and the samples in the block, to its
        inputs and labels.
    pool : Workers
        The threads that compute on blocks.
    """

    problem: Protocol
    omega: Single
    rates: Sequence[float]
    samples: Sequence[int]
    draw: Callable[[int, int, int], tuple[Single, Single]]
    pool: Workers

    def take(self, weights: Single) -> Iterator[Array]:
        """Change the weights in place, step by step; yield each batch's mean of y x."""
        steps = zip(self.problem.each_step, self.rates, self.samples, strict=True)
        for k, (step, rate, samples) in enumerate(steps):
            gradient, correlation = self._sums(
                weights, 0 if self.problem.reuse_batch else k, samples
            )
            gradient *= np.float32(rate / samples)
            take_step(step, weights, gradient, rate)
            yield correlation / samples

    def _sums(self, weights: Single, batch: int, samples: int) -> tuple[Single, Array]:
        """Sum `omega_i (y - f(x)) sigma'(w_i.x) x` and y x over a batch."""
        activation, loss = lookup(self.problem.activation), lookup_loss(self.problem.step_loss)

        def block(item: tuple[int, int]) -> tuple[Single, Single, Array]:
            inputs, labels = self.draw(batch, *item)
            slopes = batch_slopes(weights, self.omega, activation, inputs, labels, loss)
            return slopes, inputs, labels.astype(float) @ inputs

        gradient, correlation = np.zeros_like(weights), np.zeros(weights.shape[1])
        blocks = enumerate(block_sizes(samples, FEWER_ROWS))
        for slopes, inputs, of_block in self.pool.map_ahead(block, blocks):
            gradient += slopes.T @ inputs
            correlation += of_block
        return gradient, correlation
