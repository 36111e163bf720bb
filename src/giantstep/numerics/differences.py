"""Derivatives of functions that are known by their values: in pieces on the axis, or analytic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, polynomial

from giantstep.arrays import Array, Reals

_COUNT = 9
# Far below the scale of any argument: its square is zero.
_STEP = 1e-30
_NODES = chebyshev.chebpts1(_COUNT)
# Columns: coefficients of the derivatives of polynomials that are one at a node, zero at others.
_SLOPES = polynomial.polyder(np.linalg.inv(polynomial.polyvander(_NODES, _COUNT - 1)))


class Slope:
    """The derivative of the polynomial through values around each place.

    The nodes around a place lie on its side of all kinks.

    Parameters
    ----------
    values : callable
    kinks : sequence of float
    half_width : float
        Of the nodes around a place. At half the distance between kinks at most.
    """

    def __init__(
        self, values: Callable[[Any], Any], kinks: Sequence[float], half_width: float
    ) -> None:
        self._values, self._half_width = values, half_width
        self._edges = np.array([-np.inf, *sorted(kinks), np.inf])

    def __call__(self, x: Reals) -> Reals:
        """Differentiate at each entry of an array, in double precision; keep the array's type."""
        given, h = np.asarray(x), self._half_width
        places: Array = given.astype(float)
        piece = np.clip(np.searchsorted(self._edges, places, "right"), 1, self._edges.size - 1)
        lowest, highest = self._edges[piece - 1] + h, self._edges[piece] - h
        centre = np.minimum(np.maximum(places, lowest), highest)
        at = (places - centre) / h
        total = np.zeros_like(places)
        for node, coefficients in zip(_NODES, _SLOPES.T, strict=True):
            total += polynomial.polyval(at, coefficients) * self._values(centre + h * node)
        return (total / h).astype(given.dtype, copy=False)


def with_slope(function: Callable[[Any], Any], x: Array) -> tuple[Array, Array]:
    """Compute a real analytic function and its derivative, to rounding, by a complex step."""
    values = function(x + _STEP * 1j)
    return values.real, values.imag / _STEP
