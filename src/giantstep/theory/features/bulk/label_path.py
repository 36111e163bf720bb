"""Averages over labels along a path in the complex plane, for spectra.

At real eigenvalues, averages over labels have poles next to the real axis: each node far from the
others would have a peak of its own in the density. As for kappa (`kappa_path`), nodes leave the
axis to the side on which there are none. Where |y| grows away from the origin, that is the side to
which the phase of y^2 decreases.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.polynomial.legendre import leggauss, legval, legvander

from giantstep.arrays import Array, Complex, Mask, RealOrComplex
from giantstep.numerics.quadrature import NODES

# How far the path leaves the axis, in half widths of a panel.
_HEIGHT = 0.5
# A function has a kink where polynomials miss the next value by this share of their largest.
_KINK = 1e-8


def label_path(s: Array, labels: RealOrComplex) -> tuple[Complex, Complex, Complex]:
    """Move the nodes of a composite rule under N(0, 1) to the path.

    Parameters
    ----------
    s : Array, shape (K or 1, N)
        Nodes of `split_rule` on one panel after the other.
    labels : array, shape (K, N)
        Functions of s, analytic on each panel.

    Returns
    -------
    s, factors, labels : Array, shape (K, N)
        There; weights are multiplied by the factors.
    """
    points, fit = _panel()
    y, on_axis = labels.reshape(len(labels), -1, NODES), s.reshape(len(s), -1, NODES)
    half = np.ptp(on_axis, axis=-1, keepdims=True) / np.ptp(points)
    centre, scale = on_axis.mean(axis=-1, keepdims=True), np.where(half > 0, half, 1.0)
    polynomials = np.moveaxis(y @ fit, -1, 0)[..., None]
    next_place = (on_axis[:, 1:, :1] - centre[:, :-1]) / scale[:, :-1]
    missed = np.abs(legval(next_place, polynomials[:, :, :-1], tensor=False) - y[:, 1:, :1])
    smooth = missed <= _KINK * np.abs(y[:, :-1]).max(axis=-1, keepdims=True)
    heights = _heights(np.abs(y), half[..., 0], smooth[..., 0])[..., None]
    low, high = heights[:, :-1], heights[:, 1:]
    z = on_axis + 0.5j * (low * (1 - points) + high * (1 + points))
    factors = (1 + 0.5j * (high - low) / scale) * np.exp((on_axis - z) * (on_axis + z) / 2)
    moved = legval((z - centre) / scale, polynomials, tensor=False)
    return z.reshape(labels.shape), factors.reshape(labels.shape), moved.reshape(labels.shape)


def _heights(size: Array, half: Array, smooth: Mask) -> Array:
    """Choose the height of the path at the ends of all panels, shape (K, P + 1).

    Parameters
    ----------
    size : Array, shape (K, P, NODES)
        |y|.
    half : Array, shape (K or 1, P)
    smooth : boolean array, shape (K, P - 1)
        Whether functions have no kink between two panels.
    """
    growth = np.diff(size, axis=-1)
    left, right = np.all(growth <= 0, axis=-1), np.all(growth >= 0, axis=-1)
    left = np.logical_and.accumulate(left, axis=1)
    right = np.logical_and.accumulate(right[:, ::-1], axis=1)[:, ::-1]
    tops = _HEIGHT * half * (left.astype(float) - right)
    shared = smooth & (tops[:, :-1] * tops[:, 1:] > 0)
    lower = np.where(np.abs(tops[:, :-1]) < np.abs(tops[:, 1:]), tops[:, :-1], tops[:, 1:])
    return np.concatenate([tops[:, :1], shared * lower, tops[:, -1:]], axis=1)


@cache
def _panel() -> tuple[Array, Array]:
    """Return the nodes of a panel, and the matrix from values there to Legendre coefficients."""
    points: Array = leggauss(NODES)[0]
    return points, np.asarray(np.linalg.inv(legvander(points, NODES - 1)).T, dtype=float)
