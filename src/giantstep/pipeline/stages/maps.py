"""The test error over two parameters of a protocol, beside what a step is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from giantstep.problems.bulk_kind import TRAINED
from giantstep.problems.protocol import Protocol
from giantstep.theory.bounds import best_linear_error
from giantstep.theory.error_map import error_map

TITLE = "Theory over two parameters"
# What a network without a step does not depend on.
_OF_STEP = ("learning_rate", "alpha0", "step_exponent")


def compute(
    problem: Protocol,
    x_parameter: str,
    x_values: Sequence[float],
    y_parameter: str,
    y_values: Sequence[float],
    alpha: float,
    ridge: float,
) -> xr.Dataset:
    """Compute test errors with both bulks and without a step, and the gains that follow.

    Variables are over (row, column), which are numbered; their parameters' values are `map_y` and
    `map_x`.
    """
    axes = {y_parameter: tuple(y_values), x_parameter: tuple(x_values)}
    isotropic = error_map(problem, axes, alpha, ridge)
    trained = error_map(problem, axes, alpha, ridge, TRAINED)
    others = {name: values for name, values in axes.items() if name not in _OF_STEP}
    still = error_map(replace(problem, alpha0=0.0), others, alpha, ridge)
    for place, name in enumerate(axes):
        if name in _OF_STEP:
            still = np.expand_dims(still, place)
    variables = {
        "map_test_error": isotropic,
        "gain_over_linear": 1 - isotropic / best_linear_error(problem.target),
        "gain_over_no_step": 1 - isotropic / still,
        "isotropic_deviation": isotropic / trained - 1,
    }
    return xr.Dataset(
        {name: (("row", "column"), values) for name, values in variables.items()}
        | {"map_x": ("column", list(x_values)), "map_y": ("row", list(y_values))},
        coords={
            "row": np.arange(1, len(y_values) + 1),
            "column": np.arange(1, len(x_values) + 1),
            "x_parameter": x_parameter,
            "y_parameter": y_parameter,
        },
    )
