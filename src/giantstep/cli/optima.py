"""The answer of `giantstep optimise` at one point."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.questions.answers import answer
from giantstep.questions.checks import OPTIMAL
from giantstep.questions.remarks import edge_remarks, limit_remarks
from giantstep.theory.optima import dimension_of_limit, optimal_learning_rate, search_of
from giantstep.validation import Fault, InvalidParametersError


def best_learning_rate(
    problem: Problem, alpha: float, ridge: Any, options: dict[str, Any]
) -> xr.Dataset:
    """Find the learning rate with the least test error, at a ridge or the best one."""
    if not isinstance(problem, Protocol):
        raise InvalidParametersError([Fault("problem", "sRF", "gradient steps")])
    bulk, dimension, loss = (options[name] for name in ("bulk", "dimension", "loss"))
    given = None if ridge == OPTIMAL else ridge
    best = optimal_learning_rate(problem, alpha, given, bulk, dimension, loss)
    search, where = search_of(loss, dimension), f"alpha {alpha:g}, ridge {best.ridge:g}"
    remarks = edge_remarks([where] * best.on_edge, "best learning rate", search.learning_rates)
    remarks += edge_remarks([where] * best.ridge_on_edge, "best ridge", search.ridges)
    if math.isinf(dimension):
        rated = replace(problem, learning_rate=best.learning_rate)
        point = np.array([alpha]), np.array([best.ridge])
        remarks += limit_remarks(dimension_of_limit(rated, *point, bulk, loss).item())
    values = {"learning_rate": best.learning_rate, "test_error": best.test_error}
    data = xr.Dataset(values, coords={"alpha": alpha, "ridge": best.ridge})
    return answer(data, "Best learning rate", problem, options, remarks)
