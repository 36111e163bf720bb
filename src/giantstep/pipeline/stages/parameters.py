"""The parameters of a problem and of its equivalent spiked random features (Result 3.1)."""

from __future__ import annotations

import math

import xarray as xr

from giantstep.pipeline.stages.problem_parameters import features_parameters
from giantstep.problems.problem import Problem
from giantstep.theory.equivalent_features import equivalent_features

TITLE = "Spiked random features equivalent to the problem"


def compute(problem: Problem, dimension: float = math.inf) -> xr.Dataset:
    """Compute the equivalent spiked features, as scalars beside the problem's own parameters."""
    return features_parameters(problem, equivalent_features(problem, dimension))
