"""The test error of a curve after each of its steps, at several learning rates, by the theory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.theory.readout.solve import solve
from giantstep.validation import InvalidParametersError

TITLE = "Theory after each step, at several learning rates"


def compute(
    problem: Protocol, grid: Grid, bulk: str, learning_rates: Sequence[float]
) -> xr.Dataset:
    """Solve the theory on a grid; variables over (learning rate, step, alpha, ridge).

    Errors are NaN from the step on at which a learning rate is too large for the theory.
    """
    dims = ("theory_learning_rate", "step", "alpha", "ridge")
    steps = range(1, problem.steps + 1)
    shape = len(learning_rates), len(steps), len(grid.alpha), len(grid.ridge)
    errors = np.full(shape, np.nan)
    for i, rate in enumerate(learning_rates):
        for k in steps:
            try:
                at = replace(problem, learning_rate=rate, steps=k)
                errors[i, k - 1] = solve(at, grid, bulk).test_error
            except InvalidParametersError:
                break
    return xr.Dataset(
        {"test_error_by_learning_rate": (dims, errors)},
        coords={
            "theory_learning_rate": list(learning_rates),
            "step": list(steps),
            "alpha": list(grid.alpha),
            "ridge": list(grid.ridge),
        },
    )
