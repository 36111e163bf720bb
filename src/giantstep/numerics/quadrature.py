"""Quadrature rules under N(0, 1), and the edges of the panels they are made of."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import roots_legendre

from giantstep.arrays import Array

# The mass of N(0, 1) beyond this is 2e-23; polynomials of degree ten still vanish there.
RANGE = 10.0
# For bounded integrands this is enough: 2e-17 lies beyond.
BOUNDED_RANGE = 8.5
# Nodes a panel. On a panel as wide as half the distance to the nearest singularity the error
# falls as (2 + sqrt(5))^(-2 NODES) at least, below rounding.
NODES = 12
_BASE_EDGES = np.arange(-RANGE, RANGE + 1)


def normal_density(z: Array) -> Array:
    """Compute the density of N(0, 1)."""
    density: Array = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return density


@cache
def _legendre(nodes: int) -> tuple[Array, Array]:
    points, weights = roots_legendre(nodes)
    return points, weights


def split_rule(edges: Array, fineness: int = 1) -> tuple[Array, Array]:
    """Give nodes and weights of composite Gauss-Legendre under N(0, 1) between sorted edges.

    Parameters
    ----------
    edges : Array, shape (..., E)
        Ends of the panels; panels of no width carry no weight.
    fineness : int
        Multiplies the number of nodes, to tell the error by doubling them.

    Returns
    -------
    nodes, weights : Array, shape (..., (E - 1) * NODES * fineness)
    """
    points, point_weights = _legendre(NODES * fineness)
    centre = (edges[..., 1:] + edges[..., :-1]) / 2
    half = np.diff(edges) / 2
    nodes = centre[..., None] + half[..., None] * points
    weights = half[..., None] * point_weights * normal_density(nodes)
    shape = (*edges.shape[:-1], -1)
    return nodes.reshape(shape), weights.reshape(shape)


def strip_rule(strip: float) -> tuple[Array, Array]:
    """Give the trapezoidal rule under N(0, 1) for integrands analytic in |Im z| < strip.

    Its error is exp(-2 pi strip/h), or exp(-2 pi^2/h^2) from the Gaussian's own growth off the
    real line, whichever is larger: the step h keeps both at rounding.
    """
    step = min(0.7, 2 * np.pi * 0.95 * strip / 37)
    count = int(np.ceil(BOUNDED_RANGE / step))
    nodes: Array = step * np.arange(-count, count + 1).astype(float)
    return nodes, step * normal_density(nodes)


def graded_edges(centre: float, scale: float) -> Array:
    """Give panel edges that resolve a feature of width `scale` at `centre` within unit panels.

    Panels of that width stand around the centre, as far as a Gaussian-smoothed step still moves
    by more than rounding; from there on they widen to 1. A scale of zero (a jump) takes one edge.
    """
    if not 0 < scale < 1:
        return np.array([centre])
    near = np.arange(1, min(10, np.ceil(RANGE / scale)) + 1)
    far = near[-1] * 1.5 ** np.arange(1, np.ceil(np.log(RANGE / scale / near[-1]) / np.log(1.5)))
    distance = scale * np.concatenate([near, far])
    return np.concatenate([centre - distance[::-1], [centre], centre + distance])


def unit_edges(extra: Array) -> Array:
    """Sort `extra` edges, clipped to the range, among unit panels; acts on the last axis."""
    extra = np.clip(extra, -RANGE, RANGE)
    base = np.broadcast_to(_BASE_EDGES, (*extra.shape[:-1], _BASE_EDGES.size))
    return np.sort(np.concatenate([base, extra], axis=-1), axis=-1)
