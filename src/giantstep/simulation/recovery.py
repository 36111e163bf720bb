"""What trained rows see of a multi-index teacher, in actual networks (see `recovery`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.random import Generator, SeedSequence

from giantstep.arrays import Array, Single
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.canonical import problem_seed
from giantstep.problems.recovery import Recovery, check_dimension
from giantstep.problems.sizes import SEED
from giantstep.problems.teachers import Teacher, lookup_teacher
from giantstep.simulation.gradients import batch_slopes
from giantstep.simulation.samples import FEWER_ROWS, FIRST_BATCH, WEIGHTS, block_sizes, stream
from giantstep.validation import COUNT, Fault, InvalidParametersError, interval_faults

# Beyond, squares of weights leave the range of single precision.
_LARGEST_WEIGHT = 1e12


class Recovered(NamedTuple):
    """Shares of squared norms along each direction, averaged over rows, after 0, 1, ... steps.

    Both of shape (networks, steps + 1, directions); those of the change are NaN before any step.
    """

    overlap: Array
    update_overlap: Array


def recover(
    problem: Recovery, dimension: int, networks: Iterable[int], root_seed: int
) -> Recovered:
    """Train the first layers of networks, and measure them after each step.

    A replicate's numbers depend on the seed, the problem, the dimension and its own index alone.

    Raises
    ------
    InvalidParametersError
        If the dimension does not suit, there are no replicates, a negative index or seed, or the
        weights become infinite.
    """
    check_dimension(problem, dimension)
    indices = list(networks)
    faults = [] if indices else [Fault("networks", 0, str(COUNT))]
    faults += [Fault("networks", index, str(SEED)) for index in indices if index not in SEED]
    faults += interval_faults({"root_seed": root_seed}, {"root_seed": SEED})
    if faults:
        raise InvalidParametersError(faults)
    seed = problem_seed(root_seed, problem, dimension)
    found = [_network(problem, dimension, seed, network) for network in indices]
    return Recovered(*(np.stack(values) for values in zip(*found, strict=True)))


def _network(
    problem: Recovery, dimension: int, seed: SeedSequence, network: int
) -> tuple[Array, Array]:
    rng = stream(seed, network, WEIGHTS)
    teacher = lookup_teacher(problem.teacher)
    directions = np.linalg.qr(rng.standard_normal((dimension, teacher.directions)))[0]
    initial = np.tile(_unit_rows(rng, problem.width // 2, dimension), (2, 1))
    omega = np.repeat(np.array([1, -1], dtype=np.float32), problem.width // 2)
    weights, count = initial.copy(), problem.batch(dimension)
    rows, changes = [_shares(weights, directions)], [np.full(teacher.directions, np.nan)]
    for step in range(problem.steps):
        which = 0 if problem.reuse_batch else step
        sums = np.zeros_like(weights)
        for index, size in enumerate(block_sizes(count, FEWER_ROWS)):
            block = stream(seed, network, FIRST_BATCH, which, index)
            sums += _block(problem, teacher, weights, omega, directions, size, block)
        weights += np.float32(problem.rate(dimension) / count) * sums
        if not np.abs(weights).max() < _LARGEST_WEIGHT:
            allowed = f"small enough that all weights stay below {_LARGEST_WEIGHT:g}"
            raise InvalidParametersError([Fault("learning_rate", problem.learning_rate, allowed)])
        rows.append(_shares(weights, directions))
        changes.append(_shares(weights - initial, directions))
    return np.stack(rows), np.stack(changes)


def _unit_rows(rng: Generator, rows: int, dimension: int) -> Single:
    normals = rng.standard_normal((rows, dimension), np.float32)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return normals


def _block(
    problem: Recovery,
    teacher: Teacher,
    weights: Single,
    omega: Single,
    directions: Array,
    size: int,
    rng: Generator,
) -> Single:
    """Sum `omega_i (y - f(x)) sigma'(w_i.x) x` over a block of fresh samples."""
    inputs = rng.standard_normal((size, weights.shape[1]), np.float32)
    labels = teacher.value(inputs @ directions.astype(np.float32)).astype(np.float32)
    slopes = batch_slopes(weights, omega, lookup(problem.activation), inputs, labels)
    return (slopes.T @ inputs).astype(np.float32, copy=False)


def _shares(rows: Single, directions: Array) -> Array:
    """Average over rows the share of their squared norm along each direction; none of zero rows."""
    precise = rows.astype(float)
    norms = np.sum(precise**2, axis=1, keepdims=True)
    shares = (precise @ directions) ** 2 / np.where(norms > 0, norms, 1)
    mean: Array = shares.mean(axis=0)
    return mean
