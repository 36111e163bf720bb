"""The theory of a curve on its grid: overlaps and errors (Result 3.3, or Appendix C)."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from giantstep.pipeline.stages.finite_size import name_finite_size
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.grid import Grid
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS, by_groups
from giantstep.problems.problem import Problem
from giantstep.theory.optima import optimal_ridge
from giantstep.theory.readout.solution import Solution
from giantstep.theory.readout.solve import solve

TITLE = "Asymptotic theory (Result 3.3, Appendix C)"


def compute(
    problem: Problem,
    grid: Grid,
    optimal: bool = False,
    bulk: str = ISOTROPIC,
    dimension: float = math.inf,
) -> xr.Dataset:
    """Solve the theory on a grid; variables over (alpha, ridge).

    With `optimal`, also the best ridge, its test error, and whether it is at an end of the range
    that was searched, over alpha. The variables of a finite dimension are named as such, since a
    figure's file holds them beside those of the limit.
    """
    solution = solve(problem, grid, bulk, dimension)
    values: dict[str, NDArray[Any]] = {
        field.name: getattr(solution, field.name) for field in fields(Solution)
    }
    values["status"] = values["status"].astype(np.int8)
    variables = {
        name: by_groups(("alpha", "ridge"), value, OVERLAP_DIMENSIONS.get(name, ()))
        for name, value in values.items()
    }
    if optimal:
        best = optimal_ridge(problem, np.array(grid.alpha), bulk, dimension, grid.loss)
        variables["optimal_ridge"] = (("alpha",), best.ridge)
        variables["optimal_test_error"] = (("alpha",), best.solution.test_error)
        variables["optimal_ridge_on_edge"] = (("alpha",), best.on_edge.astype(np.int8))
    coords = {"alpha": list(grid.alpha), "ridge": list(grid.ridge)}
    solved = xr.Dataset(variables, coords=coords)
    return solved if math.isinf(dimension) else name_finite_size(solved)
