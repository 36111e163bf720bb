"""The overlaps of trained first layers with the directions of a multi-index teacher."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import xarray as xr

from giantstep.problems.recovery import Recovery
from giantstep.simulation.recovery import simulate_recovery

TITLE = "Overlaps of trained rows with a teacher's directions"


def compute(
    problem: Recovery,
    dimension: int,
    networks: Sequence[int],
    root_seed: int,
    progress: Callable[[float], None] = lambda share: None,
    threads: int = 1,
) -> xr.Dataset:
    """Measure the overlaps of each network after each step, from step 0, the initial layer.

    One thread does, and no progress is told: each network takes seconds.
    """
    found = simulate_recovery(problem, dimension, networks, root_seed)
    steps, directions = found.overlap.shape[1:]
    dims = ("network", "step", "direction")
    return xr.Dataset(
        {f"simulated_{name}": (dims, value) for name, value in found._asdict().items()},
        coords={
            "network": list(networks),
            "step": np.arange(steps),
            "direction": np.arange(1, directions + 1),
        },
    )
