"""What a figure compares a curve with: bounds, and functions of the projection on the spike."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr

from giantstep.problems.overlaps import by_groups
from giantstep.problems.problem import Problem
from giantstep.theory.bounds import best_linear_error, bounds
from giantstep.theory.features.conditional_features import conditional_moments
from giantstep.theory.features.conditional_target import conditional_target
from giantstep.theory.first_layer.layer import layer_of
from giantstep.vocabulary import label

KAPPAS = np.linspace(-4, 4, 161)


def references(problem: Problem, *, dimension: float = math.inf) -> xr.Dataset:
    """Compute the bounds of a problem, and functions of the projection kappa on the spike.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    dimension : float
        As in `solve`.

    Returns
    -------
    xarray.Dataset
        `best_linear_error`. Where the problem has a theory also, over `kappa`, the means `mu0` and
        `kappa_mu1` of the features and the `conditional_target`. For a spike along the target
        `upper_bound` and `lower_bound`, and the functions that reach them: equations (26) to (31).

    Examples
    --------
    >>> from giantstep import Protocol
    >>> problem = Protocol("tanh", "sin", learning_rate=3, alpha0=math.inf, beta=1)
    >>> found = references(problem)
    >>> (found.lower_bound < found.upper_bound).item()
    True
    """
    linear = best_linear_error(problem.target, problem.inputs)
    values: dict[str, object] = {"best_linear_error": linear}
    values |= {"upper_bound": math.nan, "lower_bound": math.nan}
    layer = layer_of(problem, dimension)
    if layer.faults():
        return label(xr.Dataset(values))
    features = layer.features
    mu0, mu1, *_ = conditional_moments(features, KAPPAS)
    values |= {
        "mu0": by_groups(("kappa",), mu0.T, ("group",)),
        "kappa_mu1": by_groups(("kappa",), (KAPPAS * mu1).T, ("group",)),
        "conditional_target": (("kappa",), conditional_target(features, KAPPAS)[0]),
    }
    if features.is_aligned:
        limits, both = bounds(features), np.concatenate([mu0, KAPPAS * mu1])
        values["upper_bound"], values["lower_bound"] = limits.upper, limits.lower
        values["upper_bound_function"] = (("kappa",), limits.upper_coefficients @ mu0)
        values["lower_bound_function"] = (("kappa",), limits.lower_coefficients @ both)
    return label(xr.Dataset(values, coords={"kappa": KAPPAS}))
