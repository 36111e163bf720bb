"""Gradient steps of a first layer on batches of samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from giantstep.arrays import Array, Reals, Single
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.covariance import directions_of
from giantstep.problems.losses import lookup_loss
from giantstep.problems.protocol import SGD, SIGN_DESCENT, Protocol
from giantstep.simulation.arithmetic import FEWER_ROWS, block_sizes
from giantstep.simulation.gradients import batch_slopes
from giantstep.simulation.threads import Workers
from giantstep.validation import refusal


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
    elif problem.optimizer != SGD:
        raise refusal("optimizer", problem.optimizer, f"{SGD} or {SIGN_DESCENT} in simulations")
    if problem.precondition:
        step = step * directions_of(problem.covariance, 0)[0] ** -problem.precondition
    weights *= np.float32(1 - problem.decay)
    weights += step.astype(np.float32, copy=False)


def batch_steps(
    problem: Protocol,
    omega: Single,
    rates: Sequence[float],
    counts: Sequence[int],
    draw: Callable[[int, int, int], tuple[Single, Single]],
    pool: Workers,
    weights: Single,
) -> Iterator[Array]:
    """Take steps `w_i += rate omega_i E (y - f(x)) sigma'(w_i.x) x`, each a mean over a batch.

    Parameters
    ----------
    problem : Protocol
    omega : Single, shape (p,)
        The readout times sqrt(p): `f(x) = sum_i omega_i sigma(w_i.x)/p`.
    rates : sequence of float
        Of each step.
    counts : sequence of int
        Of the samples in the batch of each.
    draw : callable
        From the numbers of a batch and of a block in it, and the samples in the block, to its
        inputs and labels.
    pool : Workers
        The threads that compute on blocks.
    weights : Single, shape (p, d)
        Changed in place.

    Yields
    ------
    Array, shape (d,)
        The mean of y x over the batch, after each step.
    """
    activation, loss = lookup(problem.activation), lookup_loss(problem.step_loss)

    def block(item: tuple[int, int, int]) -> tuple[Single, Single, Array]:
        inputs, labels = draw(*item)
        slopes = batch_slopes(weights, omega, activation, inputs, labels, loss)
        return slopes, inputs, labels.astype(float) @ inputs

    for k, (step, rate, samples) in enumerate(zip(problem.each_step, rates, counts, strict=True)):
        gradient, correlation = np.zeros_like(weights), np.zeros(weights.shape[1])
        batch = 0 if problem.reuse_batch else k
        blocks = ((batch, *one) for one in enumerate(block_sizes(samples, FEWER_ROWS)))
        for slopes, inputs, of_block in pool.map_ahead(block, blocks):
            gradient += slopes.T @ inputs
            correlation += of_block
        gradient *= np.float32(rate / samples)
        take_step(step, weights, gradient, rate)
        yield correlation / samples
