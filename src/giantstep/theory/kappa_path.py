"""Averages over kappa along a path in the complex plane, for spectra: theory.md section 8.

Where features saturate, averages of functions of `1/(1 + V(kappa))` at real eigenvalues have poles
next to the real axis of kappa: no nodes there would resolve them. V(kappa) has a positive imaginary
part on the axis. Where all features of a tail grow, or all decay, the path leaves the axis to the
side on which the phase of V decreases, so that it meets no pole on the way.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.polynomial.legendre import leggauss

from giantstep.arrays import Array
from giantstep.numerics.linear_systems import TINY
from giantstep.numerics.quadrature import NODES
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_features import ConditionalFeatures, conditional_moments

# The path leaves the axis by the least of three: so many half widths of a panel, the height that
# turns V by this phase, and so many standard deviations of a neuron's input given kappa.
_FARTHEST, _PHASE, _TURN = 0.3, 1.4, 2.0
# A panel on which the logarithm of a function changes by more is divided, into at most so many
# pieces.
_CHANGE, _PIECES = 3.0, 12
# Values of mu1^2 and mu2^2 below this share of the largest are rounding.
_LEAST = 1e-26


def on_path(features: ConditionalFeatures, srf: SpikedFeatures) -> ConditionalFeatures:
    """Move the nodes over kappa to the path, for averages of functions of V(kappa) only.

    For several spikes they stay on the axis.
    """
    if features.beside.size:
        return features
    kappa = features.kappa.reshape(-1, NODES)
    points, weights = leggauss(NODES)
    half = (kappa[:, -1] - kappa[:, 0]) / (2 * points[-1])
    kept = (half > 0) & ((kappa[:, 0] > 0) | (not features.mirrored))
    kappa, half = kappa[kept], half[kept]
    functions = np.concatenate([features.mu1**2, features.mu2_squared])
    rates = _rates(kappa, functions.reshape(len(functions), *kept.shape, -1)[:, kept])
    centre = (kappa[:, 0] + kappa[:, -1]) / 2
    ends = np.concatenate([[centre[0] - half[0]], centre + half])
    farthest = _TURN * float(np.min(np.sqrt(srf.groups.c) / np.maximum(np.abs(srf.groups.u), TINY)))
    edges = ends + 1j * np.concatenate([[0.0], _heights(half, rates, farthest), [0.0]])
    pieces = np.ceil(2 * half * np.abs(rates).max(axis=0) / _CHANGE).clip(1, _PIECES).astype(int)
    panel = np.repeat(np.arange(half.size), pieces)
    piece = np.arange(panel.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    steps = ((edges[1:] - edges[:-1]) / pieces)[panel, None] / 2
    nodes = edges[panel, None] + steps * (2 * piece[:, None] + 1 + points)
    weight = steps * weights * np.exp(-(nodes**2) / 2) / np.sqrt(2 * np.pi)
    mu0, mu1, mu2_squared, _ = conditional_moments(srf, nodes.ravel())
    return replace(
        features,
        kappa=nodes.ravel(),
        weight=(1 + features.mirrored) * weight.ravel(),
        mu0=mu0,
        mu1=mu1,
        mu2_squared=mu2_squared,
        phi=features.B.T @ mu1,
        mirrored=False,
    )


def _rates(kappa: Array, functions: Array) -> Array:
    """Compute the mean slope of the logarithm of functions (F, P, N) on each panel, (F, P)."""
    size = np.abs(functions).max(axis=(1, 2), keepdims=True)
    logs = np.log(np.maximum(functions[:, :, [0, -1]], _LEAST * size + TINY))
    return np.diff(logs)[:, :, 0] / (kappa[:, -1] - kappa[:, 0])


def _heights(half: Array, rates: Array, farthest: float) -> Array:
    """Choose the height of the path at the edges between panels of some half widths, (P - 1,)."""
    reach = np.minimum(_FARTHEST * half, _PHASE / np.maximum(np.abs(rates).max(axis=0), TINY))
    reach = np.minimum(reach, farthest)
    heights = np.zeros(half.size)
    for sign in (1, -1):
        fits = np.all(sign * rates >= 0, axis=0)
        tails = np.logical_and.accumulate(fits) | np.logical_and.accumulate(fits[::-1])[::-1]
        heights = np.where(tails & (heights == 0), -sign * reach, heights)
    same_side = heights[1:] * heights[:-1] > 0
    smaller = np.minimum(np.abs(heights[1:]), np.abs(heights[:-1]))
    return np.where(same_side, smaller * np.sign(heights[1:]), 0.0)
