"""What is measured of each simulated network: answers of networks alone, without the theory.

Of all questions, keys of simulations cover only this module and `task`; import-linter checks that
these use nothing of the theory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import xarray as xr

from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS, by_groups
from giantstep.problems.problem import Problem
from giantstep.problems.sizes import Sizes
from giantstep.simulation.measurements import SLABS
from giantstep.simulation.network_features import NetworkFeatures
from giantstep.simulation.replicates import network_replicates
from giantstep.simulation.simulate import simulate

DIMENSIONS = ("network", "training", "alpha", "ridge")


def replicates(
    problem: Problem,
    alpha: Sequence[float],
    ridge: Sequence[float],
    *,
    dimension: int,
    networks: Sequence[int],
    trainings: int = 1,
    loss: str = SQUARE,
    test_samples: int = 10_000,
    seed: int = 0,
    threads: int = 1,
    progress: Callable[[float], None] = lambda share: None,
) -> xr.Dataset:
    """Train networks, and measure each of them; `simulate` summarises what they have in common.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha, ridge : sequence of float
    dimension, trainings, loss, test_samples, seed, threads, progress
        As in `simulate`.
    networks : sequence of int
        Indices of network replicates.

    Returns
    -------
    xarray.Dataset
        Over (network, training, alpha, ridge): `simulated_test_error` and the like.

    Raises
    ------
    InvalidParametersError

    Examples
    --------
    >>> import giantstep
    >>> problem = giantstep.Protocol("tanh", "sin", learning_rate=3, alpha0=2, beta=1)
    >>> measured = replicates(problem, alpha=[1], ridge=[0.1], dimension=100, networks=[0, 3])
    >>> measured.simulated_test_error.sel(network=3).dims
    ('training', 'alpha', 'ridge')
    """
    grid, sizes = Grid(tuple(alpha), tuple(ridge), loss), Sizes(dimension, trainings, test_samples)
    measured = simulate(problem, grid, sizes, networks, seed, progress, threads)
    further = OVERLAP_DIMENSIONS | {"learned_function": ("s_simulated",)}
    named = {
        f"simulated_{name}": by_groups(DIMENSIONS, values, further.get(name, ()))
        for name, values in vars(measured).items()
    }
    along = zip(DIMENSIONS, (networks, range(trainings), grid.alpha, grid.ridge), strict=True)
    return xr.Dataset(named, {name: list(x) for name, x in along} | {"s_simulated": SLABS})


def eigenvalues(
    problem: Problem, alpha: float, *, dimension: int, networks: Sequence[int], seed: int = 0
) -> xr.Dataset:
    """Compute the eigenvalues of the covariance Phi^T Phi of each network's features.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha : float
        Sample complexity n/d.
    dimension, seed : int
        As in `simulate`.
    networks : sequence of int
        Indices of network replicates.

    Returns
    -------
    xarray.Dataset
        `simulated_eigenvalue` over (network, index), smallest first.

    Raises
    ------
    InvalidParametersError

    Examples
    --------
    >>> import giantstep
    >>> problem = giantstep.Protocol("tanh", "sin", learning_rate=3, alpha0=2, beta=0.5)
    >>> dict(eigenvalues(problem, 2, dimension=80, networks=range(3)).sizes)
    {'network': 3, 'index': 40}
    """
    spectra, sizes = [], Sizes(dimension)
    for replicate in network_replicates(problem, Grid((alpha,), (1.0,)), sizes, networks, seed):
        rows, _ = NetworkFeatures(replicate, np.float64).training_set(0, sizes.count(alpha))
        n, p = rows.shape
        # Those of Phi Phi^T and zeros, if it has fewer rows.
        values = np.linalg.eigvalsh((rows @ rows.T if n < p else rows.T @ rows) / p)
        spectra.append(np.pad(values, (p - values.size, 0)))
    coords = {"network": list(networks), "index": np.arange(1, len(spectra[0]) + 1)}
    return xr.Dataset({"simulated_eigenvalue": (("network", "index"), np.array(spectra))}, coords)
