"""Averages under N(0, 1) along a path in the complex plane, for functions with tails.

Averages of 1/(1 + V(x)) at a V that is nearly a negative number have poles next to the real axis,
if V is a sum of positive functions, of multiples with a positive imaginary part, that vary over
many decades. Where all functions of a tail grow, or all decay, the path leaves the axis to the side
on which the phase of V decreases, so that it meets no pole on the way.
"""

from __future__ import annotations

import numpy as np

from giantstep.arrays import Array, RealOrComplex
from giantstep.numerics.linear_systems import TINY
from giantstep.numerics.quadrature import NODES, legendre_rule, normal_density

# The path leaves the axis by so many half widths of a panel at most, and by the height that turns V
# by this phase.
_FARTHEST, _PHASE = 0.3, 1.4
# A panel on which the logarithm of a function changes by more is divided, into at most so many
# pieces.
_CHANGE, _PIECES = 3.0, 12
# Values of functions below this share of the largest are rounding.
_LEAST = 1e-26


def growth_path(
    x: Array, functions: Array, farthest: float, right_half: bool
) -> tuple[RealOrComplex, RealOrComplex]:
    """Choose nodes and weights on the path.

    Parameters
    ----------
    x : Array, shape (N,)
        Nodes of `split_rule` on one panel after the other.
    functions : Array, shape (F, N)
        The functions there.
    farthest : float
        Height that the path does not exceed.
    right_half : bool
        Whether panels below zero are left out.
    """
    panels = x.reshape(-1, NODES)
    points, weights = legendre_rule(NODES)
    half = (panels[:, -1] - panels[:, 0]) / (2 * points[-1])
    kept = (half > 0) & ((panels[:, 0] > 0) | (not right_half))
    panels, half = panels[kept], half[kept]
    rates = _rates(panels, functions.reshape(len(functions), *kept.shape, -1)[:, kept])
    centre = (panels[:, 0] + panels[:, -1]) / 2
    ends = np.concatenate([[centre[0] - half[0]], centre + half])
    edges = ends + 1j * np.concatenate([[0.0], _heights(half, rates, farthest), [0.0]])
    pieces = np.ceil(2 * half * np.abs(rates).max(axis=0) / _CHANGE).clip(1, _PIECES).astype(int)
    panel = np.repeat(np.arange(half.size), pieces)
    piece = np.arange(panel.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    steps = ((edges[1:] - edges[:-1]) / pieces)[panel, None] / 2
    nodes = edges[panel, None] + steps * (2 * piece[:, None] + 1 + points)
    return nodes.ravel(), (steps * weights * normal_density(nodes)).ravel()


def _rates(panels: Array, functions: Array) -> Array:
    """Compute the mean slope of the logarithm of functions (F, P, N) on each panel, (F, P)."""
    size = np.abs(functions).max(axis=(1, 2), keepdims=True)
    logs = np.log(np.maximum(functions[:, :, [0, -1]], _LEAST * size + TINY))
    return np.diff(logs)[:, :, 0] / (panels[:, -1] - panels[:, 0])


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
