"""Functions of one variable at many points, from their values at fewer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy  # whose modules are imported when they are first used

from giantstep.arrays import Array, RealOrComplex

# Of points between which cubics interpolate, for functions that vary on a scale of one: the error
# is 1e-10.
_SPACING = 0.01


def interpolated(
    functions: Callable[[Any], tuple[Array, ...]], points: RealOrComplex, scale: float
) -> tuple[RealOrComplex, ...]:
    """Evaluate smooth functions at points, shape (N,), or on a grid if that has fewer.

    Parameters
    ----------
    functions : callable
        Returns the values of several functions at points.
    points : array
        Functions are evaluated at complex ones themselves.
    scale : float
        On which they vary.

    Examples
    --------
    >>> sine, cosine = interpolated(lambda x: (np.sin(x), np.cos(x)), np.linspace(0, 9, 5000), 1.0)
    >>> bool(np.allclose(sine**2 + cosine**2, 1, rtol=0, atol=1e-9))
    True
    """
    low = float(points.real.min())
    high = max(float(points.real.max()), low + _SPACING * scale)
    count = max(4, math.ceil((high - low) / (_SPACING * scale)))
    if count >= points.size or np.iscomplexobj(points):
        return functions(points)
    grid = np.linspace(low, high, count)
    return tuple(scipy.interpolate.CubicSpline(grid, np.stack(functions(grid)), axis=1)(points))


def tabulated(values: Array, low: float, step: float) -> Callable[[Array], list[Array]]:
    """Interpolate several functions linearly between values, shape (F, N), from `low` on.

    The last value is beyond all points.
    """
    changes = np.diff(values, append=0.0)

    def at(points: Array) -> list[Array]:
        place = (points - low) / step
        left = place.astype(np.intp)
        place -= left
        return [of[left] + place * change[left] for of, change in zip(values, changes, strict=True)]

    return at
