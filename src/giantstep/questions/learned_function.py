"""The question `learned_function`: what the network has learned along the target."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem
from giantstep.problems.targets import target_along
from giantstep.questions.arguments import ALPHA, BEST_RIDGE, BULK, DIMENSION, LOSS, Many, argument
from giantstep.questions.product import Result
from giantstep.questions.question import question
from giantstep.questions.request import solve_all
from giantstep.theory.first_layer.layer import layer_of
from giantstep.theory.learned_function import learned_function as compute_learned_function
from giantstep.validation import Interval

_PROJECTIONS = np.linspace(-3, 3, 121)
_S = argument("learned_function", "s", Interval(-math.inf), Many.TOGETHER)


@question(ALPHA, BEST_RIDGE, _S, LOSS, BULK, DIMENSION)
def learned_function(
    problem: Problem,
    alpha: ArrayLike = 1.0,
    ridge: ArrayLike = 0.1,
    *,
    s: ArrayLike | None = None,
    loss: str = SQUARE,
    bulk: str | None = None,
    dimension: float = math.inf,
) -> Result:
    """Compute the mean output of the trained network given the projection of the input on theta.

    theory.md section 7; Figure 1 draws it.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha, ridge, loss, bulk, dimension
        As in `solve`.
    s : array_like, shape (M,), optional
        Projections theta . x, along the target (the first direction of several); by default 121
        values from -3 to 3.
    max_hours, max_memory
        As in `solve`.

    Returns
    -------
    xarray.Dataset
        `learned_function` over those of `alpha` and `ridge` that are arrays and over `s`, with the
        `status` of each point; `target_function` over `s`.

    Raises
    ------
    InvalidParametersError
        Listing all invalid arguments.

    Examples
    --------
    >>> import giantstep
    >>> problem = giantstep.Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1)
    >>> learned = giantstep.learned_function(problem, alpha=3, s=[0.5, 1, 2])
    >>> learned.learned_function.values.round(2), learned.target_function.values.round(2)
    (array([0.4 , 0.72, 1.03]), array([0.48, 0.84, 0.91]))
    """
    points = _PROJECTIONS if s is None else np.array(s, dtype=float, ndmin=1)
    given = {"alpha": alpha, "ridge": ridge, "loss": loss, "bulk": bulk, "dimension": dimension}
    data, remarks = solve_all(problem, given, zero_one=False, compared=True)
    shape, features = data["status"].shape, layer_of(problem, dimension).features
    m, zeta, psi, xi = (data[k].values.reshape(*shape, -1) for k in ("m", "zeta", "psi", "xi"))
    learned = compute_learned_function(features, m, zeta, psi, points, xi)
    target = target_along(problem.target, points, problem.inputs)
    named = {"learned_function": ((*data["status"].dims, "s"), learned), "status": data["status"]}
    return xr.Dataset(named | {"target_function": ("s", target)}, {"s": points}), remarks
