"""Averages over kappa along a path in the complex plane, for spectra: theory.md section 8.

Where features saturate, averages of functions of `1/(1 + V(kappa))` at real eigenvalues have poles
next to the real axis of kappa: no nodes there would resolve them. V(kappa) has a positive imaginary
part on the axis. Where all features of a tail grow, or all decay, the path leaves the axis to the
side on which the phase of V decreases, so that it meets no pole on the way.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.linalg import pinv
from numpy.polynomial.legendre import leggauss, legvander

from giantstep.arrays import Array, RealOrComplex
from giantstep.numerics.linear_systems import TINY
from giantstep.numerics.quadrature import NODES
from giantstep.theory.features.conditional_features import ConditionalFeatures

# How far the path leaves the axis: at most so many half widths of a panel, over which functions are
# still known, and at most as far as it takes to turn V by this phase.
_FARTHEST, _PHASE = 0.3, 1.4
# Functions are interpolated from so many times as many nodes.
FINENESS = 2
# Panels are divided where the logarithm of a function changes by more; not into more pieces.
_CHANGE, _PIECES = 3.0, 12
# Functions that change by this factor on a panel are interpolated by logarithms of this degree.
_STEEP, _DEGREE = 100.0, 14
# Smaller values of mu0 and mu1 are rounding, relatively; of mu2^2, those below its square.
_LEAST = 1e-13


def on_path(features: ConditionalFeatures) -> ConditionalFeatures:
    """Move the nodes over kappa to the path, for averages of functions of V(kappa) only.

    Parameters
    ----------
    features : ConditionalFeatures
        Of the fineness `FINENESS`. Those of several spikes stay on the axis.
    """
    if features.beside.size:
        return features
    points, weights = leggauss(NODES)
    given = leggauss(FINENESS * NODES)[0]
    every = features.mu0, features.phi, features.mu2_squared
    sizes = [len(functions) for functions in every]
    least = np.repeat([_LEAST, _LEAST, _LEAST**2], sizes)[:, None, None]
    kappa = features.kappa.reshape(-1, given.size)
    functions = np.concatenate(every).reshape(-1, *kappa.shape)
    half = (kappa[:, -1] - kappa[:, 0]) / (2 * given[-1])
    kept = (half > 0) & ((kappa[:, 0] > 0) | (not features.mirrored))
    kappa, half, functions = kappa[kept], half[kept], functions[:, kept]
    _, phi, noise = np.split(functions, np.cumsum(sizes)[:-1])
    centre = (kappa[:, 0] + kappa[:, -1]) / 2
    squares = np.einsum("gr,rpn->gpn", features.B, phi) ** 2
    rates = _rates(kappa, np.concatenate([squares, noise]))
    ends = np.concatenate([[centre[0] - half[0]], centre + half])
    edges = ends + 1j * np.concatenate([[0.0], _heights(half, rates), [0.0]])
    pieces = np.ceil(2 * half * np.abs(rates).max(axis=0) / _CHANGE).clip(1, _PIECES).astype(int)
    panel = np.repeat(np.arange(half.size), pieces)
    piece = np.arange(panel.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    steps = ((edges[1:] - edges[:-1]) / pieces)[panel, None] / 2
    nodes = edges[panel, None] + steps * (2 * piece[:, None] + 1 + points)
    place = (nodes - centre[panel, None]) / half[panel, None]
    at_nodes = _interpolated(functions[:, panel], place, least)
    mu0, phi, noise = np.split(at_nodes, np.cumsum(sizes)[:-1])
    weight = steps * weights * np.exp(-(nodes**2) / 2) / np.sqrt(2 * np.pi)
    return replace(
        features,
        kappa=nodes.ravel(),
        weight=(1 + features.mirrored) * weight.ravel(),
        mu0=mu0,
        mu1=features.B @ phi,
        mu2_squared=noise,
        phi=phi,
        mirrored=False,
    )


def _interpolated(functions: Array, place: Array, least: Array) -> RealOrComplex:
    """Interpolate on each panel, shape (F, P, N), at places between -1 and 1 (or nearby), (P, M).

    A function that changes by orders of magnitude is the exponential of a polynomial.
    """
    given = leggauss(functions.shape[-1])[0]
    smallest, largest = (reduce(functions, axis=-1, keepdims=True) for reduce in (np.min, np.max))
    steep = smallest > least * largest.max(axis=1, keepdims=True)
    steep &= largest > _STEEP * smallest
    logs = np.log(np.where(steep, functions, 1.0))
    plain, exponents = (
        np.einsum("pmn,fpn->fpm", legvander(place, degree) @ pinv(legvander(given, degree)), values)
        for degree, values in ((given.size - 1, functions), (_DEGREE, logs))
    )
    values: RealOrComplex = np.where(steep, np.exp(exponents), plain)
    return values.reshape(len(functions), -1)


def _rates(kappa: Array, functions: Array) -> Array:
    """Compute the mean slope of the logarithm of functions (F, P, N) on each panel, (F, P)."""
    size = np.abs(functions).max(axis=(1, 2), keepdims=True)
    logs = np.log(np.maximum(functions[:, :, [0, -1]], _LEAST**2 * size + TINY))
    return np.diff(logs)[:, :, 0] / (kappa[:, -1] - kappa[:, 0])


def _heights(half: Array, rates: Array) -> Array:
    """Choose the height of the path at the edges between panels of some half widths, (P - 1,)."""
    reach = np.minimum(_FARTHEST * half, _PHASE / np.maximum(np.abs(rates).max(axis=0), TINY))
    heights = np.zeros(half.size)
    for sign in (1, -1):
        fits = np.all(sign * rates >= 0, axis=0)
        tails = np.logical_and.accumulate(fits) | np.logical_and.accumulate(fits[::-1])[::-1]
        heights = np.where(tails & (heights == 0), -sign * reach, heights)
    same_side = heights[1:] * heights[:-1] > 0
    smaller = np.minimum(np.abs(heights[1:]), np.abs(heights[:-1]))
    return np.where(same_side, smaller * np.sign(heights[1:]), 0.0)
