"""Averages under N(0, 1) along a path in the complex plane.

Functions of a value y(s) may have poles next to the real axis, which no nodes there would resolve:
each node far from the others would add a peak of its own. Nodes therefore leave the axis to the
side without poles: where |y| grows away from the origin, that to which the phase of y^2 decreases.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial.legendre import leggauss, legval, legvander

from giantstep.arrays import Array, Complex, Mask, RealOrComplex
from giantstep.numerics.quadrature import NODES

# How far the path leaves the axis, in half widths of a panel.
_HEIGHT = 0.5
# A function has a kink where polynomials miss the next value by this share of their largest.
_KINK = 1e-8
# The nodes of a panel, and the matrix from values there to Legendre coefficients.
_POINTS: Array = leggauss(NODES)[0]
_FIT = np.linalg.inv(legvander(_POINTS, NODES - 1)).T


def complex_path(s: Array, values: RealOrComplex) -> tuple[Complex, Complex, Complex]:
    """Move the nodes of a composite rule under N(0, 1) to the path.

    Parameters
    ----------
    s : Array, shape (..., N)
        Nodes of `split_rule` on one panel after the other.
    values : array, shape (..., N)
        Of y, a function that is analytic on each panel.

    Returns
    -------
    s, factors, values : Array, shape (..., N)
        There; weights are multiplied by the factors.
    """
    y, on_axis = (x.reshape(*x.shape[:-1], -1, NODES) for x in (values, s))
    half = np.ptp(on_axis, axis=-1, keepdims=True) / np.ptp(_POINTS)
    centre, scale = on_axis.mean(axis=-1, keepdims=True), np.where(half > 0, half, 1.0)
    polynomials = np.moveaxis(y @ _FIT, -1, 0)[..., None]
    next_place = (on_axis[..., 1:, :1] - centre[..., :-1, :]) / scale[..., :-1, :]
    missed = np.abs(legval(next_place, polynomials[..., :-1, :], tensor=False) - y[..., 1:, :1])
    smooth = missed[..., 0] <= _KINK * np.abs(y[..., :-1, :]).max(axis=-1)
    heights = _heights(np.abs(y), half[..., 0], smooth)[..., None]
    low, high = heights[..., :-1, :], heights[..., 1:, :]
    z = on_axis + 0.5j * (low * (1 - _POINTS) + high * (1 + _POINTS))
    factors = (1 + 0.5j * (high - low) / scale) * np.exp((on_axis - z) * (on_axis + z) / 2)
    moved = legval((z - centre) / scale, polynomials, tensor=False)
    return z.reshape(values.shape), factors.reshape(values.shape), moved.reshape(values.shape)


def _heights(size: Array, half: Array, smooth: Mask) -> Array:
    """Choose the height of the path at the ends of all panels, shape (..., P + 1).

    Parameters
    ----------
    size : Array, shape (..., P, NODES)
        |y|.
    half : Array, shape (..., P)
    smooth : boolean array, shape (..., P - 1)
        Whether functions have no kink between two panels.
    """
    growth = np.diff(size, axis=-1)
    left = np.logical_and.accumulate(np.all(growth <= 0, axis=-1), axis=-1)
    rising = np.all(growth >= 0, axis=-1)[..., ::-1]
    right = np.logical_and.accumulate(rising, axis=-1)[..., ::-1]
    side = left.astype(float) - right
    shared = smooth & (side[..., :-1] == side[..., 1:])
    inner = shared * side[..., 1:] * np.minimum(half[..., :-1], half[..., 1:])
    ends = side * half
    return _HEIGHT * np.concatenate([ends[..., :1], inner, ends[..., -1:]], axis=-1)
