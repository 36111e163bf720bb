"""Eigenvalues of the features' covariance of simulated networks, beside `spectrum`'s density."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.random import SeedSequence

from giantstep.arrays import Array, Reals
from giantstep.problems.canonical import problem_seed
from giantstep.problems.grid import Grid
from giantstep.problems.problem import Problem
from giantstep.problems.sizes import Sizes, check_sizes
from giantstep.simulation.first_layer import FirstLayer, first_layer
from giantstep.simulation.network_features import NetworkFeatures
from giantstep.simulation.samples import ROWS, TRAINING, block_sizes
from giantstep.simulation.threads import workers


def feature_eigenvalues(
    problem: Problem, alpha: float, sizes: Sizes, networks: Iterable[int], root_seed: int
) -> Array:
    """Compute the eigenvalues of `Phi^T Phi` of network replicates, on alpha d samples each.

    Networks and samples are those of `montecarlo.simulate`.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha : float
    sizes : Sizes
    networks : iterable of int
    root_seed : int

    Returns
    -------
    Array, shape (networks, p)
        In ascending order; zeros where there are fewer samples than features.

    Raises
    ------
    InvalidParametersError
        If the dimension is too small for the ratios.
    """
    check_sizes(problem, Grid((alpha,), (1.0,)), sizes)
    seed, found = problem_seed(root_seed, problem), []
    with workers(1) as pool:
        for network in networks:
            layer = first_layer(problem, sizes, network, seed, pool)
            blocks = _blocks(problem, layer, sizes.count(alpha), network, seed)
            found.append(_eigenvalues(blocks, sizes.count(alpha), layer.bias.size))
    return np.stack(found)


def _blocks(
    problem: Problem, layer: FirstLayer, count: int, network: int, seed: SeedSequence
) -> Iterator[Reals]:
    """Give blocks of rows of sqrt(p) Phi."""
    features = NetworkFeatures(problem, layer, np.float64)
    for index, rows in enumerate(block_sizes(count, ROWS)):
        yield features.draw(seed, rows, network, TRAINING, 0, index)[1]


def _eigenvalues(blocks: Iterator[Reals], count: int, p: int) -> Array:
    """Give the eigenvalues of Phi^T Phi, from it or, with fewer rows, from Phi Phi^T."""
    if count < p:
        rows = np.concatenate(list(blocks))
        product = rows @ rows.T
    else:
        product = np.zeros((p, p))
        for block in blocks:
            product += block.T @ block
    values = np.zeros(p)
    values[p - min(count, p) :] = np.linalg.eigvalsh(product / p)
    return values
