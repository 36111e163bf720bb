"""What a step gains, over other predictors and over no step, for points of a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import xarray as xr

from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED_NORMS
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.questions.checks import raise_all
from giantstep.questions.sweep import sweep
from giantstep.theory.bounds import best_linear_error
from giantstep.validation import Fault
from giantstep.vocabulary import label

GAINS = ("gain_over_linear", "gain_over_no_step", "isotropic_deviation")
# What a network without a step does not depend on.
_OF_STEP = ("learning_rate", "alpha0", "step_exponent")


def add_gain(
    found: xr.Dataset, name: str, problem: Problem, values: Mapping[str, Any]
) -> xr.Dataset:
    """Add to the answer of a sweep what the step gains.

    Parameters
    ----------
    found : xarray.Dataset
        From `sweep(problem, **values)`.
    name : str
        "gain_over_linear" or "gain_over_no_step": the share of the test error of the best linear
        predictor, or of the network without a step, that is saved; negative where the step does
        worse. "isotropic_deviation": the test error by the theory of the isotropic bulk over that
        of the bulk "trained_norms", less one.
    problem : Protocol or SpikedFeatures
    values : mapping
        What the sweep was asked for.

    Raises
    ------
    InvalidParametersError
        For what needs a step, of features given directly.

    Examples
    --------
    >>> from giantstep import Protocol
    >>> problem = Protocol("tanh", "sign", learning_rate=3, alpha0=2, beta=1)
    >>> values = {"learning_rate": [1, 3], "alpha": 2}
    >>> found = add_gain(sweep(problem, **values), "gain_over_linear", problem, values)
    >>> found.gain_over_linear.values.round(2)
    array([-0.62, -0.65])
    """
    if name != GAINS[0] and not isinstance(problem, Protocol):
        raise_all([Fault("show", name, f"{GAINS[0]} for features given directly")])
    if name == "gain_over_linear":
        gain = 1 - found["test_error"] / _linear(found, problem)
    elif name == "gain_over_no_step":
        gain = 1 - found["test_error"] / _without_step(problem, values)
    else:
        errors = [
            sweep(problem, classification_error=False, **dict(values) | {"bulk": bulk}).test_error
            for bulk in (ISOTROPIC, TRAINED_NORMS)
        ]
        gain = errors[0].drop_vars("bulk") / errors[1].drop_vars("bulk") - 1
    attributes = found.attrs
    named = gain.transpose(*found["test_error"].dims).drop_vars(
        [coordinate for coordinate in gain.coords if coordinate not in found.coords]
    )
    labelled = label(found.assign({name: named}))
    return labelled.assign_attrs(attributes)


def _linear(found: xr.Dataset, problem: Problem) -> xr.DataArray | float:
    """Return the error of the best linear predictor, of each target."""
    if "target" not in found.dims:
        return best_linear_error(problem.target)
    errors = [best_linear_error(target) for target in found["target"].values.tolist()]
    return xr.DataArray(errors, dims="target")


def _without_step(problem: Problem, values: Mapping[str, Any]) -> xr.DataArray:
    """Return the test error of networks at initialisation."""
    assert isinstance(problem, Protocol)
    others: dict[str, Any] = {k: v for k, v in values.items() if k not in _OF_STEP}
    still = replace(problem, alpha0=0.0)
    error = sweep(still, classification_error=False, **others)["test_error"]
    return error.drop_vars([name for name in error.coords if name not in error.dims])
