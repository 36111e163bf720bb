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


def slope_between(
    values: Callable[[Any], Any], kinks: Sequence[float], half_width: float, x: Reals
) -> Reals:
    """Compute the derivative of the polynomial through values around each entry of an array.

    In double precision; the array's type is kept.

    Parameters
    ----------
    values : callable
    kinks : sequence of float
        In ascending order. The nodes around a place lie on its side of all kinks.
    half_width : float
        Of the nodes around a place. At half the distance between kinks at most.
    x : Reals
    """
    given, h, edges = np.asarray(x), half_width, np.array([-np.inf, *kinks, np.inf])
    places: Array = given.astype(float)
    piece = np.clip(np.searchsorted(edges, places, "right"), 1, edges.size - 1)
    centre = np.minimum(np.maximum(places, edges[piece - 1] + h), edges[piece] - h)
    at = (places - centre) / h
    total = np.zeros_like(places)
    for node, coefficients in zip(_NODES, _SLOPES.T, strict=True):
        total += polynomial.polyval(at, coefficients) * values(centre + h * node)
    return (total / h).astype(given.dtype, copy=False)


def with_slope(function: Callable[[Any], Any], x: Array) -> tuple[Array, Array]:
    """Compute a real analytic function and its derivative, to rounding, by a complex step."""
    values = function(x + _STEP * 1j)
    return values.real, values.imag / _STEP
