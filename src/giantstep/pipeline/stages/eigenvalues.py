"""The eigenvalues of the covariance of simulated features."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import xarray as xr

from giantstep.problems.problem import Problem
from giantstep.problems.sizes import Sizes
from giantstep.simulation.eigenvalues import feature_eigenvalues

TITLE = "Eigenvalues of simulated features' covariance"


def compute(
    problem: Problem,
    alpha: float,
    sizes: Sizes,
    networks: Sequence[int],
    root_seed: int,
    progress: Callable[[float], None] = lambda share: None,
    threads: int = 1,
) -> xr.Dataset:
    """Compute all eigenvalues of each network's features, smallest first.

    One thread does, and no progress is told: each network takes seconds.
    """
    found = feature_eigenvalues(problem, alpha, sizes, networks, root_seed)
    return xr.Dataset(
        {"simulated_eigenvalue": (("network", "index"), found)},
        coords={"network": list(networks), "index": np.arange(1, found.shape[1] + 1)},
    )
