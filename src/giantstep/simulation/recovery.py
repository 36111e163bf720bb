"""How much of a multi-index teacher trained first layers recover: `Recovery`, simulated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.random import SeedSequence

from giantstep.arrays import Array, Single
from giantstep.problems.recovery import Recovery, check_dimension
from giantstep.problems.seeds import problem_seed
from giantstep.problems.sizes import check_replicates
from giantstep.problems.teachers import lookup_teacher
from giantstep.simulation.arithmetic import check_weights
from giantstep.simulation.gradient_steps import BatchSteps
from giantstep.simulation.samples import FIRST_BATCH, WEIGHTS, stream, unit_rows
from giantstep.simulation.threads import Workers, workers


class SimulatedOverlaps(NamedTuple):
    """Fractions of squared norms along each direction, averaged over rows, after 0, 1, ... steps.

    Attributes
    ----------
    overlap : Array, shape (networks, steps + 1, directions)
        Of the rows.
    update_overlap : Array, shape (networks, steps + 1, directions)
        Of their change since initialisation; NaN before the first step.
    """

    overlap: Array
    update_overlap: Array


def simulate_recovery(
    problem: Recovery, dimension: int, networks: Iterable[int], root_seed: int
) -> SimulatedOverlaps:
    """Train the first layers of network replicates, and measure them after each step.

    A replicate's numbers depend only on the seed, the problem, the dimension and its own index.

    Parameters
    ----------
    problem : Recovery
    dimension : int
    networks : iterable of int
        Indices of the replicates to simulate.
    root_seed : int

    Raises
    ------
    InvalidParametersError
        If the dimension does not suit the problem, an index or the seed is negative, there are no
        replicates, or the weights overflow.

    Examples
    --------
    >>> from giantstep.problems.recovery import Recovery
    >>> problem = Recovery("elu", "z1+z1*z2", learning_rate=1, alpha0=8, width=16, steps=2)
    >>> overlaps = simulate_recovery(problem, dimension=30, networks=range(4), root_seed=0)
    >>> overlaps.overlap.shape  # networks, steps, directions
    (4, 3, 2)
    """
    check_dimension(problem, dimension)
    indices = check_replicates(networks, root_seed)
    seed = problem_seed(root_seed, problem, dimension)
    with workers(1) as pool:
        measured = [_simulate_network(problem, dimension, seed, k, pool) for k in indices]
    return SimulatedOverlaps(*(np.stack(values) for values in zip(*measured, strict=True)))


def _simulate_network(
    problem: Recovery, dimension: int, seed: SeedSequence, network: int, pool: Workers
) -> SimulatedOverlaps:
    rng = stream(seed, network, WEIGHTS)
    teacher = lookup_teacher(problem.teacher)
    directions = np.linalg.qr(rng.standard_normal((dimension, teacher.directions)))[0]
    initial = np.tile(unit_rows(rng, problem.width // 2, dimension), (2, 1))
    omega = np.repeat(np.array([1, -1], dtype=np.float32), problem.width // 2)

    def draw(batch: int, block: int, rows: int) -> tuple[Single, Single]:
        block_rng = stream(seed, network, FIRST_BATCH, batch, block)
        inputs = block_rng.standard_normal((rows, dimension), np.float32)
        labels = teacher.value(inputs @ directions.astype(np.float32))
        return inputs, labels.astype(np.float32)

    rate, count = problem.rate(dimension), problem.batch(dimension)
    steps = BatchSteps(problem, omega, rate, count, draw, pool)
    weights = initial.copy()
    rows, changes = [_overlaps(weights, directions)], [np.full(teacher.directions, np.nan)]
    for _ in steps.take(weights):
        check_weights(weights, "learning_rate", problem.learning_rate)
        rows.append(_overlaps(weights, directions))
        changes.append(_overlaps(weights - initial, directions))
    return SimulatedOverlaps(np.stack(rows), np.stack(changes))


def _overlaps(rows: Single, directions: Array) -> Array:
    """Average over rows the fraction of their squared norm along each direction.

    Rows that are zero count as having none.
    """
    precise = rows.astype(float)
    norms = np.sum(precise**2, axis=1, keepdims=True)
    fractions = (precise @ directions) ** 2 / np.where(norms > 0, norms, 1)
    return fractions.mean(axis=0)
