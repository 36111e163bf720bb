"""Simulated networks: the raw measurements of every replicate (section 2 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import xarray as xr

from giantstep.problems.grid import Grid
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS, by_groups
from giantstep.problems.problem import Problem
from giantstep.problems.sizes import Sizes
from giantstep.simulation.measurements import SLABS
from giantstep.simulation.simulate import Progress, Simulated, simulate

TITLE = "Simulated networks (section 2 of the paper)"
MEASURED = tuple(field.name for field in fields(Simulated))


def compute(
    problem: Problem,
    grid: Grid,
    sizes: Sizes,
    networks: Sequence[int],
    root_seed: int,
    progress: Progress = lambda share: None,
    threads: int = 1,
) -> xr.Dataset:
    """Simulate network replicates; variables over (network, training, alpha, ridge).

    Numbers do not depend on `threads`.
    """
    found = simulate(problem, grid, sizes, networks, root_seed, progress, threads)
    dims = ("network", "training", "alpha", "ridge")
    further = OVERLAP_DIMENSIONS | {"learned_function": ("s_simulated",)}
    return xr.Dataset(
        {
            f"simulated_{name}": by_groups(dims, getattr(found, name), further.get(name, ()))
            for name in MEASURED
        },
        coords={
            "network": list(networks),
            "training": list(range(sizes.trainings)),
            "alpha": list(grid.alpha),
            "ridge": list(grid.ridge),
            "s_simulated": SLABS,
        },
    )
