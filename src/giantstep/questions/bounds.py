"""The question `bounds`: how well any readout can do."""

from __future__ import annotations

import xarray as xr
from numpy.typing import ArrayLike

from giantstep.problems.domains import FLAG
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.questions.arguments import ALPHA, Many, argument
from giantstep.questions.bayes_optimal import bayes_optimal as best_prediction
from giantstep.questions.product import Result
from giantstep.questions.question import question
from giantstep.questions.remarks import TEXTS
from giantstep.theory.bounds import (
    best_linear_error,
    bounds_at_best_learning_rate,
    lower_bound_with_bias,
)
from giantstep.theory.bounds import bounds as compute_bounds
from giantstep.theory.first_layer.equivalent_features import equivalent_features
from giantstep.validation import refusal

_BAYES_OPTIMAL = argument("bounds", "bayes_optimal", FLAG)
_ALPHA = argument("bounds", "alpha", ALPHA.domain, Many.TOGETHER)


@question(_BAYES_OPTIMAL, _ALPHA)
def bounds(
    problem: Problem, *, bayes_optimal: bool = False, alpha: ArrayLike | None = None
) -> Result:
    """Compute bounds on the test error at the best ridge: equations (26)-(31) and (132).

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    bayes_optimal : bool
        Also compute the least error of any method that is given the same samples.
    alpha : float or sequence of float, optional
        Samples of the readout over d, for `bayes_optimal`; those of all steps are added.
    max_hours, max_memory
        As in `solve`.

    Returns
    -------
    xarray.Dataset
        Numbers: `upper_bound` and `lower_bound`, for a spike along the target as in the paper, or
        their counterparts for any other (with a remark); `lower_bound_with_bias` at the best bias
        common to all neurons; `best_linear_error`, of linear predictors with an intercept, below
        which neither kernels nor random features get when n is proportional to d; `alignment`. For
        a protocol also `upper_bound_best_learning_rate` and `lower_bound_best_learning_rate`. With
        `bayes_optimal`, over alpha: `bayes_optimal_error` of the best method, and `amp_error` of
        approximate message passing, the best known that runs in polynomial time, with the squared
        overlaps of their directions with the target's; and `weak_recovery`, the samples over d from
        which that overlap is not 0.

    Raises
    ------
    InvalidParametersError
        If the theory does not cover the protocol; for `bayes_optimal`, if the target has several
        directions.

    Examples
    --------
    >>> import math
    >>> import giantstep
    >>> problem = giantstep.Protocol("tanh", "sin", learning_rate=3, alpha0=math.inf, beta=1)
    >>> limits = giantstep.bounds(problem)
    >>> print(f"{limits.lower_bound.item():.4f} {limits.upper_bound.item():.4f}")
    0.0038 0.0211
    """
    if bayes_optimal != (alpha is not None):
        raise refusal("alpha", alpha, "given with bayes_optimal, and only with it")
    best = xr.Dataset() if alpha is None else best_prediction(problem, alpha=alpha)
    limits, features = compute_bounds(problem), equivalent_features(problem)
    values = {"upper_bound": limits.upper, "lower_bound": limits.lower}
    values["lower_bound_with_bias"] = lower_bound_with_bias(problem)
    values["best_linear_error"] = best_linear_error(problem.target, problem.inputs)
    values["alignment"] = features.overlap
    if isinstance(problem, Protocol):
        upper, lower = bounds_at_best_learning_rate(problem)
        values |= {"upper_bound_best_learning_rate": upper, "lower_bound_best_learning_rate": lower}
    return best.assign(values), [TEXTS["not_aligned"]] * (not features.is_aligned)
