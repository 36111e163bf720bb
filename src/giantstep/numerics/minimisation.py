"""Minimisation of functions of one variable that may have several local minima."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.optimize.elementwise import find_minimum

from giantstep.arrays import Array, Mask


def minimise_from_candidates(
    function: Callable[[float], float], candidates: Array, tolerance: float = 1e-6
) -> tuple[float, float]:
    """Minimise over an interval: find the best candidate, then refine between its neighbours.

    Parameters
    ----------
    function : callable
        Values of infinity are never the minimum, unless all are.
    candidates : Array, shape (K,)
        In increasing order, and close enough that the best one is near the minimum.
    tolerance : float
        Absolute, in the argument.

    Returns
    -------
    argument, minimum : float
    """
    values = np.array([function(float(x)) for x in candidates])
    best = int(np.argmin(values))
    neighbours = candidates[max(best - 1, 0)], candidates[min(best + 1, candidates.size - 1)]
    options = {"xatol": tolerance}
    refined = minimize_scalar(function, bounds=neighbours, method="bounded", options=options)
    if refined.fun < values[best]:
        return float(refined.x), float(refined.fun)
    return float(candidates[best]), float(values[best])


def minimise_each_from_candidates(
    function: Callable[[Array, Array], Array],
    parameter: Array,
    candidates: Array,
    tolerances: Mapping[str, float] | None = None,
) -> tuple[Array, Mask]:
    """Minimise over an interval of positive numbers, for each value of a parameter.

    The same search as `minimise_from_candidates`, with all points of a round evaluated together,
    and the refinement in the logarithm of the argument.

    Parameters
    ----------
    function : callable
        Takes arguments and parameters, of one shape. NaN is never the minimum.
    parameter : Array, shape (A,)
    candidates : Array, shape (K,)
        Positive, in increasing order, and close enough that the best is near the minimum.
    tolerances : mapping, optional
        As scipy's `find_minimum` takes them: "xatol" of the logarithm, "frtol" of the function, ...
        By default those of floating-point numbers.

    Returns
    -------
    argument : Array, shape (A,)
    on_edge : Mask, shape (A,)
        Where the best candidate is the first or last, or beside one without a value: the minimum
        may be beyond, and nothing was refined.
    """
    values = function(*np.broadcast_arrays(candidates, parameter[:, None]))
    values = np.nan_to_num(values, nan=np.inf)
    best = np.argmin(values, axis=1)
    found = np.isfinite(values.min(axis=1))
    around = np.clip(best + np.array([[-1], [1]]), 0, candidates.size - 1)
    known = np.isfinite(values[np.arange(parameter.size), around]).all(axis=0)
    inner = (best > 0) & (best < candidates.size - 1) & known
    logs = np.log(candidates)
    argument = logs[best]
    if inner.any():
        middle = best[inner]
        refined = find_minimum(
            lambda x, a: function(np.exp(x), a),
            (logs[middle - 1], logs[middle], logs[middle + 1]),
            args=(parameter[inner],),
            tolerances=tolerances,
        )
        argument[inner] = np.where(refined.success, refined.x, argument[inner])
    return np.exp(argument), found & ~inner
