"""What simulating one network takes: operations, from which its time follows, and memory.

The counts follow `first_layer`, `simulate`, `ridge`, `convex_readout` and `measurements`; small
terms are left out. Operations are of two kinds, whose rates give the seconds of one thread: within
a third of what networks of d = 250 to 3000 take on an AMD EPYC, and within a factor of three of
what small networks with many samples take. Requests to schedulers have a margin of three
(`costs.TIME_MARGIN`). How many steps other losses than the square need is a fit to a few cases.
Memory is that of the arrays held at once, within 20 % from 100 MiB on. `benchmarks/costs.py` shows
both beside measurements, and fits the rates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE, ClippedLoss, Loss, lookup_loss
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.recovery import Recovery
from giantstep.problems.sizes import EXACT, Sizes
from giantstep.problems.spiked_features import CONDITIONAL_GAUSSIAN
from giantstep.simulation.arithmetic import (
    FEWER_ROWS,
    KERNEL_UP_TO,
    ROWS,
    feature_power,
    fit_precision,
)

MIB = 2**20
# Products with all features that a convex fit needs: of the logistic loss; and of hinge and Huber
# loss with one sample per feature, with the power of samples per feature at which they grow. Below
# the ridge `_EASY_RIDGE` they grow as its power `_RIDGE_POWER`; there are not more than so many for
# each feature, and in all.
_SMOOTH_STEPS = 60
_CORNER_STEPS, _CORNER_POWER = 250, 0.6
_HUBER_STEPS, _HUBER_POWER = 60, 0.4
_EASY_RIDGE, _RIDGE_POWER = 0.1, -0.3
_STEPS_OF_FEATURE, _MOST_STEPS = 300, 80_000
# Operations of a matrix product in the time of reading one entry of a large matrix; and how many
# entries the minimiser's own work takes, for each sample and each step.
_ENTRY, _SAMPLE_ENTRIES, _STEP_ENTRIES = 60.0, 300.0, 60_000.0
# Operations of a matrix product in the time of one value of an activation, one block of samples,
# one fit of a readout, and one pair of neurons in a closed form.
_ACTIVATION, _BLOCK, _FIT, _PAIR = 300.0, 1.7e7, 2e7, 1.5e4
# Operations of all eigenvalues of a matrix, over the cube of its side.
_EIGENVALUES = 4.0


class Work(NamedTuple):
    """Operations of a computation.

    Attributes
    ----------
    products : float
        Floating-point operations of matrix products and factorisations; those in double precision
        count twice.
    drawn : float
        Random numbers.
    """

    products: float = 0.0
    drawn: float = 0.0

    @property
    def seconds(self) -> float:
        """The time of one thread."""
        return self.products * RATES.products + self.drawn * RATES.drawn


# Seconds per operation.
RATES = Work(8.6e-12, 1.5e-8)


class _Shape(NamedTuple):
    """The sizes of one simulated network, of its samples and of its readouts."""

    d: int
    p: int
    batch: int
    counts: tuple[int, ...]
    trainings: int
    ridges: tuple[float, ...]
    tests: int
    groups: int
    loss: str

    @property
    def readouts(self) -> int:
        """How many readouts are fitted."""
        return self.trainings * len(self.counts) * len(self.ridges)


def _shape(problem: Problem, grid: Grid, sizes: Sizes) -> _Shape:
    stepped = isinstance(problem, Protocol) and math.isfinite(problem.alpha0)
    return _Shape(
        d=sizes.dimension,
        p=sizes.count(problem.beta),
        batch=sizes.count(problem.alpha0) if stepped else 0,  # type: ignore[union-attr]
        counts=tuple(sizes.count(alpha) for alpha in grid.alpha),
        trainings=sizes.trainings,
        ridges=grid.ridge,
        tests=0 if sizes.test_samples == EXACT else int(sizes.test_samples),
        groups=group_count(problem),
        loss=grid.loss,
    )


def group_count(problem: Problem) -> int:
    """Return the number of groups of neurons."""
    return len(problem.readout) if isinstance(problem, Protocol) else problem.groups.c.size


def _in_single_precision(problem: Problem, ridges: Iterable[float]) -> list[bool]:
    """Return which ridges are fitted in single precision, judged by weights before the step."""
    strength = 0.0 if isinstance(problem, Protocol) else problem.groups.u
    variance = 1.0 if isinstance(problem, Protocol) else problem.groups.c
    bias = 0.0 if isinstance(problem, Protocol) else problem.groups.b
    norms = np.sqrt(np.atleast_1d(variance + np.square(strength)))
    power = feature_power(lookup(problem.activation), np.atleast_1d(bias), norms)
    return [fit_precision(ridge, power) is np.float32 for ridge in ridges]


@cache
def network_work(problem: Problem, grid: Grid, sizes: Sizes) -> Work:
    """Count the operations of one network replicate, with all its training sets and tests."""
    shape = _shape(problem, grid, sizes)
    layer = _layer_work(problem, shape)
    single = _in_single_precision(problem, shape.ridges)
    conditional = not isinstance(problem, Protocol) and problem.model == CONDITIONAL_GAUSSIAN
    # Each precision makes all features anew; the small blocks of tests are in double precision.
    samples = shape.trainings * math.ceil(max(shape.counts) / ROWS) * ROWS + shape.tests
    features = samples * shape.p * (2.0 * shape.d + _ACTIVATION) + _BLOCK * samples / ROWS
    products = (4.0 * shape.tests * shape.p + _FIT) * shape.readouts
    if sizes.test_samples == EXACT:
        products += (8.0 * shape.readouts + _PAIR) * shape.p**2
    for precision in (1, 2):
        ridges = [r for r, one in zip(shape.ridges, single, strict=True) if one is (precision == 1)]
        if ridges:
            if shape.loss == SQUARE:
                fits = precision * _ridge_fits(shape, len(ridges))
            else:  # whose ridges are positive
                fits = _convex_fits(shape, ridges)
            products += precision * features + shape.trainings * fits
    drawn = float(samples * len(set(single)) * (shape.d + (shape.p if conditional else 0)))
    return Work(layer.products + products, layer.drawn + drawn)


def _layer_work(problem: Problem, shape: _Shape) -> Work:
    """Count the operations of drawing the first layer, and of its steps."""
    weights = float(shape.p * shape.d)
    if not isinstance(problem, Protocol):
        return Work(drawn=weights)
    if math.isinf(problem.alpha0):  # two products of all pairs of rows
        pairs = 8 * shape.p * weights + _PAIR * shape.p**2
        return Work(problem.steps * pairs, weights)
    return _steps_work(weights, problem.steps * shape.batch, shape.d)


def _steps_work(weights: float, samples: int, d: int) -> Work:
    """Count the operations of steps on batches that have so many samples together."""
    blocks = _BLOCK * samples / FEWER_ROWS
    return Work(4.0 * samples * weights + blocks, weights + samples * d)


def _ridge_fits(shape: _Shape, ridges: int) -> float:
    """Count the operations of the ridge regressions of one training set.

    A fit is in the dual as long as samples are fewer than neurons; the sums of the primal are
    accumulated over all sample sizes.
    """
    p, largest = float(shape.p), max(shape.counts)
    total = 2 * largest * p**2 if largest >= p else 0.0
    for count in map(float, shape.counts):
        gram = 2 * count**2 * p if count < p else ROWS * p**2
        total += gram + ridges * min(count, p) ** 3 / 3
    return total


def _convex_fits(shape: _Shape, ridges: Sequence[float]) -> float:
    """Count the operations of the fits of another loss on one training set, in double precision.

    Each step reads a large matrix: the kernel once, or the features twice.
    """
    loss, p = lookup_loss(shape.loss), float(shape.p)
    total = 0.0
    for count in map(float, shape.counts):
        by_kernel = isinstance(loss, ClippedLoss) and count <= KERNEL_UP_TO * p
        entries = count**2 if by_kernel else 2 * count * p
        entries += count * _SAMPLE_ENTRIES + _STEP_ENTRIES
        steps = sum(_convex_steps(loss, count, p, ridge) for ridge in ridges)
        total += _ENTRY * steps * entries + (4 * count**2 * p if by_kernel else 0.0)
    return total


def _convex_steps(loss: Loss, count: float, p: float, ridge: float) -> float:
    """Estimate how many steps a fit of another loss needs."""
    if not isinstance(loss, ClippedLoss):
        return _SMOOTH_STEPS
    steps, power = _CORNER_STEPS, _CORNER_POWER
    if loss.inverse_curvature:
        steps, power = _HUBER_STEPS, _HUBER_POWER
    growth: float = (1 + count / p) ** power * min(ridge / _EASY_RIDGE, 1) ** _RIDGE_POWER
    return min(steps * growth, _STEPS_OF_FEATURE * p, _MOST_STEPS)


@cache
def network_memory(problem: Problem, grid: Grid, sizes: Sizes, threads: int = 1) -> float:
    """Count the MiB that one network replicate holds at its peak, beside the process itself."""
    shape = _shape(problem, grid, sizes)
    item = 4 if all(_in_single_precision(problem, shape.ridges)) else 8
    weights = shape.p * shape.d
    ahead = threads + 1 if threads > 1 else 1
    if isinstance(problem, Protocol) and math.isinf(problem.alpha0):
        step = 28 * weights + 5 * 8 * FEWER_ROWS * shape.p
    elif shape.batch:
        step = 8 * weights + ahead * FEWER_ROWS * (12 * shape.p + 4 * shape.d)
    else:
        step = 4 * weights
    held_by = _ridge_memory if shape.loss == SQUARE else _convex_memory
    fits = held_by(shape, item, ahead, threads)
    # Blocks of samples that are drawn, each with its features; and one that is fitted.
    drawn = item * shape.p + (4 if item == 4 else 12) * shape.d
    blocks = ROWS * (ahead * drawn + item * shape.p)
    readouts = 3 * 8 * shape.p * shape.readouts
    held = 4 * weights + (8 * weights if item == 8 else 0)
    return (held + max(step, fits + blocks + readouts)) / MIB


def _ridge_memory(shape: _Shape, item: int, ahead: int, threads: int) -> int:
    """Count the bytes that the fits of ridge regression hold."""
    dual = max((n for n in shape.counts if n < shape.p), default=0)
    # Rows that are kept and their copy, the kernel, and its factor.
    fits = item * dual * shape.p + ahead * (item * dual * shape.p + (8 + item) * dual**2)
    if max(shape.counts) >= shape.p:
        # The sums and a product; of each fit a copy of them, a product, and a factor.
        primal = shape.trainings * sum(count >= shape.p for count in shape.counts)
        copies, running = min(ahead, primal), min(threads, primal)
        fits = max(fits, (8 + item + 8 * copies + 2 * item * running) * shape.p**2)
    return fits


def _convex_memory(shape: _Shape, item: int, ahead: int, threads: int) -> int:
    """Count the bytes that the fits of another loss hold: all rows, and those of running fits."""
    kept = math.ceil(max(shape.counts) / ROWS) * ROWS * shape.p
    each = [
        8 * n * shape.p + (8 * n**2 if n <= KERNEL_UP_TO * shape.p else 0) for n in shape.counts
    ]
    return item * kept + min(threads, len(each) * shape.trainings) * max(each)


def eigenvalues_work(problem: Problem, alpha: float, sizes: Sizes) -> Work:
    """Count the operations of the eigenvalues of one network's features."""
    shape = _shape(problem, Grid((alpha,), (1.0,)), sizes)
    count, side = shape.counts[0], min(shape.counts[0], shape.p)
    layer = _layer_work(problem, shape)
    products = 4.0 * count * shape.p * (shape.d + side) + _EIGENVALUES * float(side) ** 3
    return Work(layer.products + products, layer.drawn + count * shape.d)


def eigenvalues_memory(problem: Problem, alpha: float, sizes: Sizes) -> float:
    """Count the MiB that the eigenvalues of one network's features hold."""
    shape = _shape(problem, Grid((alpha,), (1.0,)), sizes)
    count, side = shape.counts[0], min(shape.counts[0], shape.p)
    rows = 2 * min(count, shape.p + ROWS) * shape.p
    return (12 * shape.p * shape.d + 8 * (2 * rows + 3 * side**2)) / MIB


def recovery_work(problem: Recovery, dimension: int) -> Work:
    """Count the operations of one network's steps on batches of a multi-index teacher."""
    samples = problem.steps * problem.batch(dimension)
    return _steps_work(float(dimension * problem.width), samples, dimension)


def recovery_memory(problem: Recovery, dimension: int) -> float:
    """Count the MiB that one network and a block of its batch hold."""
    d, p = dimension, problem.width
    return (24 * d * p + FEWER_ROWS * (24 * p + 4 * d)) / MIB
