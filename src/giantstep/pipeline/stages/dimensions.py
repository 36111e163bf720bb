"""The test error of a curve against the dimension, by the theory of finite dimension."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from giantstep.problems.grid import Grid
from giantstep.problems.problem import Problem
from giantstep.theory.readout.solve import solve

TITLE = "Theory at several dimensions"


def compute(problem: Problem, grid: Grid, bulk: str, dimensions: Sequence[float]) -> xr.Dataset:
    """Solve the theory on a grid at each dimension; variables over (dimension, alpha, ridge)."""
    errors = [solve(problem, grid, bulk, dimension).test_error for dimension in dimensions]
    dims = ("theory_dimension", "alpha", "ridge")
    return xr.Dataset(
        {"test_error_at_dimension": (dims, np.stack(errors))},
        coords={
            "theory_dimension": list(dimensions),
            "alpha": list(grid.alpha),
            "ridge": list(grid.ridge),
        },
    )
