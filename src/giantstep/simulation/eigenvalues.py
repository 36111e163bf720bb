"""Eigenvalues of the features' covariance in simulated networks, to compare with `spectrum`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.grid import Grid
from giantstep.problems.problem import Problem
from giantstep.problems.sizes import Sizes
from giantstep.simulation.network_features import NetworkFeatures
from giantstep.simulation.replicates import network_replicates


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
    spectra, count, grid = [], sizes.count(alpha), Grid((alpha,), (1.0,))
    for replicate in network_replicates(problem, grid, sizes, networks, root_seed):
        rows, _ = NetworkFeatures(replicate, np.float64).training_set(0, count)
        # Those of Phi Phi^T and zeros, if it has fewer rows.
        n, p = rows.shape
        product = rows @ rows.T if n < p else rows.T @ rows
        values = np.linalg.eigvalsh(product / p)
        spectra.append(np.pad(values, (p - values.size, 0)))
    return np.stack(spectra)
