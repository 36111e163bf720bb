"""Eigenvalues of the features' covariance in simulated networks, to compare with `spectrum`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from giantstep.arrays import Array, Reals
from giantstep.problems.grid import Grid
from giantstep.problems.problem import Problem
from giantstep.problems.sizes import Sizes
from giantstep.simulation.arithmetic import ROWS, block_sizes
from giantstep.simulation.network_features import NetworkFeatures
from giantstep.simulation.replicates import network_replicates
from giantstep.simulation.samples import TRAINING


def feature_eigenvalues(
    problem: Problem, alpha: float, sizes: Sizes, networks: Iterable[int], root_seed: int
) -> Array:
    """Compute the eigenvalues of `Phi^T Phi` of network replicates, on alpha d samples each.

    Networks and samples are the same as in `simulate`.

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
        If the dimension is too small for the ratios, an index or the seed is negative, or there
        are no replicates.

    Examples
    --------
    >>> from giantstep import Protocol
    >>> from giantstep.problems.sizes import Sizes
    >>> problem = Protocol("tanh", "sin", learning_rate=3, alpha0=2, beta=0.5)
    >>> spectra = feature_eigenvalues(problem, 2.0, Sizes(dimension=80), range(3), root_seed=0)
    >>> spectra.shape  # networks, neurons
    (3, 40)
    """
    spectra, count = [], sizes.count(alpha)
    grid = Grid((alpha,), (1.0,))
    for replicate in network_replicates(problem, grid, sizes, networks, root_seed):
        features = NetworkFeatures(replicate, np.float64)
        blocks = (
            features.draw(rows, TRAINING, 0, index)[1]
            for index, rows in enumerate(block_sizes(count, ROWS))
        )
        spectra.append(_eigenvalues(blocks, count, replicate.layer.bias.size))
    return np.stack(spectra)


def _eigenvalues(blocks: Iterator[Reals], count: int, p: int) -> Array:
    """Compute those of Phi^T Phi from blocks of sqrt(p) Phi; by Phi Phi^T if it has fewer rows."""
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
