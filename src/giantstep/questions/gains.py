"""What a step gains, over other predictors and over no step, for points of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import xarray as xr

from giantstep.problems.bulk_kind import BULKS
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.shared import TARGET
from giantstep.questions.choices import GAINS
from giantstep.questions.request import read_request
from giantstep.questions.values import as_lists
from giantstep.theory.bounds import best_linear_error
from giantstep.validation import refusal

# What networks without a step, and features without a spike, do not depend on.
_OF_STEP = {"learning_rate", "alpha0", "step_exponent"}
_OF_STEP |= {"spike_strength", "bulk_variance", "alignment"}


def check_gains(problem: Problem, names: Sequence[str]) -> None:
    """Refuse a gain that features given directly do not have.

    Raises
    ------
    InvalidParametersError
    """
    if GAINS[2] in names and not isinstance(problem, Protocol):
        allowed = f"{' or '.join(GAINS[:2])} for features given directly"
        raise refusal("gains", GAINS[2], allowed)


def gain(data: xr.Dataset, name: str, problem: Problem, values: Mapping[str, Any]) -> xr.DataArray:
    """Compute one of the gains that `sweep` describes.

    Parameters
    ----------
    data : xarray.Dataset
        The sweep of the problem with these values.
    name : str
    problem : Protocol or SpikedFeatures
    values : mapping
        The parameters of the sweep.
    """
    error = data["test_error"]
    if name == "gain_over_linear":
        gained = 1 - error / _linear(data, problem, values)
    elif name == "gain_over_no_step":
        others = {name: value for name, value in values.items() if name not in _OF_STEP}
        gained = 1 - error / _error(without_step(problem), others)
    else:
        isotropic, trained = (_error(problem, {**values, "bulk": bulk}) for bulk in BULKS)
        gained = isotropic / trained - 1
    return error.copy(data=gained.broadcast_like(error).transpose(*error.dims).values)


def without_step(problem: Problem) -> Problem:
    """Return the same network without a step, or the same features without a spike."""
    if isinstance(problem, Protocol):
        return replace(problem, alpha0=0.0)
    return replace(problem, spike_strength=0.0, bulk_variance=1.0, further_spikes=())


def _linear(data: xr.Dataset, problem: Problem, values: Mapping[str, Any]) -> xr.DataArray:
    """Return the error of the best linear predictor, of each target and inputs."""
    given = {x: as_lists(values.get(x, getattr(problem, x))) for x in ("target", "inputs")}
    targets, inputs = (of if name in data.dims else [of] for name, of in given.items())
    names = [TARGET.domain.read(target) for target in targets]
    errors = [[best_linear_error(name, str(x)) for x in inputs] for name in names]
    fixed = {name: 0 for name in given if name not in data.dims}
    return xr.DataArray(errors, dims=list(given)).isel(fixed)


def _error(problem: Problem, values: Mapping[str, Any]) -> xr.DataArray:
    """Return the test error over the dimensions of a sweep alone."""
    data, _ = read_request(problem, values).solve(zero_one=False)
    return data["test_error"].reset_coords(drop=True)
