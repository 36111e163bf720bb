"""Random streams: one for each purpose of each replicate and, of samples, each block of rows.

So what is drawn depends on neither the order, nor the threads, nor how many rows others take.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from giantstep.arrays import Array, Single
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.inputs import lookup_inputs
from giantstep.problems.problem import Problem

# Rows of samples that share a stream, and that are held and multiplied together. Another value
# gives other samples, and other roundings.
ROWS = 1024

# The same of first batches and test samples, where nothing is gained by larger blocks.
FEWER_ROWS = 512

# What a stream of a network replicate is for: part of its seed, so never renumber.
WEIGHTS, FIRST_BATCH, TEST, TRAINING = range(4)


def stream(seed: SeedSequence, *path: int) -> Generator:
    """Give the generator of one purpose of one replicate."""
    return default_rng(SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *path)))


class Samples(NamedTuple):
    """A block of samples.

    Attributes
    ----------
    inputs : Single, shape (n, d)
    along : Single, shape (n,)
        theta . x
    clean, noise : Array, shape (n,)
        The label is their sum.
    """

    inputs: Single
    along: Single
    clean: Array
    noise: Array


def draw_samples(problem: Problem, theta: Single, count: int, rng: Generator) -> Samples:
    """Draw the first `count` samples, up to ROWS, of a stream."""
    noise = _noise(problem, rng)[:count]
    inputs = lookup_inputs(problem.inputs)(rng, (count, theta.size))
    along = inputs @ theta
    clean = lookup(problem.target).value(along.astype(np.float64))
    return Samples(inputs, along, clean, noise)


def _noise(problem: Problem, rng: Generator) -> Array:
    """Draw the label noise of ROWS samples; only with outliers does it draw who they are."""
    normals: Array = rng.standard_normal(ROWS)
    if problem.outlier_fraction == 0:
        normals *= np.sqrt(problem.noise)
        return normals
    outliers = rng.random(ROWS) < problem.outlier_fraction
    normals *= np.sqrt(np.where(outliers, problem.outlier_variance, problem.noise))
    return normals


def block_sizes(count: int, rows: int) -> list[int]:
    """Cut `count` rows into whole blocks, but for the last."""
    return [min(rows, count - start) for start in range(0, count, rows)]
