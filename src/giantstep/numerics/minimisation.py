"""Minimisation of a function of one variable that may have several local minima."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

from giantstep.arrays import Array


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
