"""Minimisation of functions of one variable that may have several local minima."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy  # whose modules are imported when they are first used

from giantstep.arrays import Array, Mask

# At most as many of a function of several variables, to refine one minimum.
_EVALUATIONS = 100


def minimise_each_from_candidates(
    function: Callable[[Array, Array], Array],
    parameter: Array,
    candidates: Array,
    tolerances: Mapping[str, float] | None = None,
) -> tuple[Array, Mask]:
    """Minimise over an interval of positive numbers, for each value of a parameter.

    The best candidate is found, then refined between its neighbours, in the logarithm of the
    argument; all points of a round are evaluated together.

    Parameters
    ----------
    function : callable
        Takes parameters and arguments, of one shape. NaN is never the minimum.
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
    values = function(*np.broadcast_arrays(parameter[:, None], candidates))
    values = np.nan_to_num(values, nan=np.inf)
    best = np.argmin(values, axis=1)
    finite = np.isfinite(values.min(axis=1))
    around = np.clip(best + np.array([[-1], [1]]), 0, candidates.size - 1)
    known = np.isfinite(values[np.arange(parameter.size), around]).all(axis=0)
    inner = (best > 0) & (best < candidates.size - 1) & known
    logs = np.log(candidates)
    argument = logs[best]
    if inner.any():
        from scipy.optimize.elementwise import find_minimum  # here, since it is slow to import

        middle = best[inner]
        bracket, of = (logs[middle - 1], logs[middle], logs[middle + 1]), (parameter[inner],)
        refined = find_minimum(
            lambda x, a: function(a, np.exp(x)), bracket, args=of, tolerances=tolerances
        )
        argument[inner] = np.where(refined.success, refined.x, argument[inner])
    return np.exp(argument), finite & ~inner


def lowest_minima(values: Array, count: int, margin: float) -> list[tuple[int, ...]]:
    """Find the lowest local minima of a positive function on a grid, lowest first.

    Parameters
    ----------
    values : Array, with a dimension for each variable
        Infinity where there is none.
    count : int
        Of the minima that are returned, at most.
    margin : float
        How far they may be above the lowest, relatively.

    Returns
    -------
    list of tuple of int
        Their places; none if all values are infinite.

    Examples
    --------
    >>> import numpy as np
    >>> lowest_minima(np.array([1.02, 1.1, 1.0, 2.0, 1.5]), count=3, margin=0.1)
    [(2,), (0,)]
    """
    cross = scipy.ndimage.generate_binary_structure(values.ndim, 1)
    minimal = values <= scipy.ndimage.minimum_filter(values, footprint=cross, mode="nearest")
    minimal &= np.isfinite(values) & (values <= (1 + margin) * values.min())
    places = sorted(zip(*np.nonzero(minimal), strict=True), key=lambda place: values[place])
    return [tuple(int(k) for k in place) for place in places[:count]]


def refine_on_grid(
    function: Callable[[Array], float], axes: Sequence[Array], best: Sequence[int], tolerance: float
) -> tuple[Array, float]:
    """Refine the minimum of a function of some variables around the best point of a grid.

    One variable is refined between its neighbours by Brent's method, several by that of Nelder and
    Mead, within the grid.

    Parameters
    ----------
    function : callable
        Of an array of shape (K,). Values of infinity are never the minimum.
    axes : sequence of Array
        The K axes of the grid, each in increasing order.
    best : sequence of int
        The place of the best point on each.
    tolerance : float
        Absolute, in each variable.

    Returns
    -------
    argument : Array, shape (K,)
    minimum : float
        Infinity if the function is infinite there.

    Examples
    --------
    >>> import numpy as np
    >>> axes = np.linspace(-2, 2, 9), np.linspace(-2, 2, 9)
    >>> x, least = refine_on_grid(lambda x: (x[0] - 0.3) ** 2 + abs(x[1]), axes, [4, 4], 1e-4)
    >>> np.allclose(x, [0.3, 0], atol=1e-3)
    True
    """
    places = list(zip(axes, best, strict=True))
    start = np.array([axis[k] for axis, k in places])
    ends = [axis[[max(k - 1, 0), min(k + 1, axis.size - 1)]] for axis, k in places]
    options: dict[str, Any] = {"xatol": tolerance}
    least = function(start)
    if len(axes) == 1:
        optimum = scipy.optimize.minimize_scalar(
            lambda x: function(np.array([x])), bounds=ends[0], method="bounded", options=options
        )
    else:
        # To the next point on each axis, or to the one before its last.
        steps = [axis[k + 1 if k + 1 < axis.size else k - 1] - axis[k] for axis, k in places]
        simplex = np.vstack([start, start + np.diag(steps) / 2])
        options |= {"fatol": tolerance**2, "maxfev": _EVALUATIONS, "initial_simplex": simplex}
        bounds = [(axis[0], axis[-1]) for axis in axes]
        optimum = scipy.optimize.minimize(
            function, start, method="Nelder-Mead", bounds=bounds, options=options
        )
    x = np.atleast_1d(optimum.x)
    return (x, float(optimum.fun)) if optimum.fun < least else (start, least)
