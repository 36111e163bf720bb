"""The error of the best prediction from all samples, for `bounds` and learning curves."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.problem import Problem
from giantstep.questions.datasets import total_samples
from giantstep.theory.bayes_optimal import prediction_error, state_evolution


def bayes_optimal(problem: Problem, *, alpha: ArrayLike) -> xr.Dataset:
    """Compute the least error that any method reaches with the samples of all steps and `alpha`.

    See `bounds` for its variables.

    Raises
    ------
    InvalidParametersError
        For targets of several directions, and labels that are not covered.

    Examples
    --------
    >>> import giantstep
    >>> problem = giantstep.Protocol("tanh", "abs", learning_rate=3, alpha0=0.4, beta=1)
    >>> found = bayes_optimal(problem, alpha=[0.5, 0.65])
    >>> found.bayes_optimal_overlap.values.round(3), found.amp_overlap.values.round(3)
    (array([0.331, 1.   ]), array([0.331, 0.568]))
    """
    channel = state_evolution(problem)
    points = {"alpha": xr.Variable("alpha", np.array(alpha, dtype=float, ndmin=1))}
    samples = total_samples(problem, points)["total_samples"]
    target = lookup(problem.target)
    overlaps = zip(*map(channel.overlaps, samples.values.tolist()), strict=True)
    values = {}
    for name, q in zip(("bayes_optimal", "amp"), overlaps, strict=True):
        values[f"{name}_error"] = ("alpha", [prediction_error(target, one) for one in q])
        values[f"{name}_overlap"] = ("alpha", list(q))
    return xr.Dataset(values, points).assign(weak_recovery=channel.weak_recovery)
