"""Random streams and what is drawn from them.

Each purpose of each network replicate has a stream of its own and, for samples, each block of rows.
So what is drawn depends neither on the order, nor on the threads, nor on how much else is drawn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from giantstep.arrays import Array, Single
from giantstep.numerics.scalar_functions import CLASS, lookup
from giantstep.problems.inputs import KNOWN_INPUTS, mixture_mean
from giantstep.problems.problem import Problem
from giantstep.problems.targets import teacher_of
from giantstep.simulation.arithmetic import ROWS

# The purposes of a network replicate's streams. They are part of the seed: never renumber them.
WEIGHTS, FIRST_BATCH, TEST, TRAINING = range(4)


def stream(seed: SeedSequence, *path: int) -> Generator:
    """Create the random generator of a network replicate, a purpose and what else `path` names."""
    return default_rng(SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *path)))


def unit_rows(rng: Generator, rows: int, dimension: int) -> Single:
    """Draw rows uniformly on the unit sphere."""
    normals = rng.standard_normal((rows, dimension), np.float32)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return normals


class Samples(NamedTuple):
    """A block of samples.

    Attributes
    ----------
    inputs : Single, shape (n, d)
    along : Single, shape (n,)
        theta . x; for a teacher, with its first direction.
    clean, labels : Array, shape (n,)
        Labels without and with their noise.
    """

    inputs: Single
    along: Single
    clean: Array
    labels: Array


def draw_samples(problem: Problem, directions: Single, count: int, rng: Generator) -> Samples:
    """Draw the first `count` samples of a stream, `ROWS` at most.

    Parameters
    ----------
    problem : Problem
    directions : Single, shape (D, d)
        Those of the target.
    count : int
    rng : Generator
    """
    noise = _draw_noise(problem, rng)[:count]
    mean, classes = mixture_mean(problem.inputs), np.array([])
    if mean is not None:
        classes = np.asarray(2.0 * rng.integers(0, 2, ROWS)[:count] - 1)
    inputs = KNOWN_INPUTS.lookup(problem.inputs)(rng, (count, directions.shape[1]))
    if mean is not None:
        inputs += np.outer((mean * classes).astype(np.float32), directions[0])
    along = inputs @ directions[0]
    if teacher := teacher_of(problem.target):
        clean = teacher.value((inputs @ directions.T).astype(np.float64))
    elif problem.target == CLASS:
        clean = classes
    else:
        clean = lookup(problem.target).value(along.astype(np.float64))
    if problem.label_flips > 0:
        reversed_labels = rng.random(ROWS)[:count] < problem.label_flips
        noise = noise - 2 * clean * reversed_labels
    return Samples(inputs, along, clean, clean + noise)


def _draw_noise(problem: Problem, rng: Generator) -> Array:
    """Draw the label noise of `ROWS` samples.

    Which of them are outliers is drawn only if there are any, so that samples without outliers
    stay as they were before outliers existed.
    """
    normals, variance = rng.standard_normal(ROWS), np.asarray(problem.noise)
    if problem.outlier_fraction > 0:
        outliers = rng.random(ROWS) < problem.outlier_fraction
        variance = np.where(outliers, problem.outlier_variance, variance)
    return normals * np.sqrt(variance)
