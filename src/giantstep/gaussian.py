"""Expectations under N(0, 1): a rule for smooth integrands, and one split where they are not."""

from __future__ import annotations

import numpy as np
from scipy.special import roots_legendre

from giantstep.activations import Array, GaussianMoments, ScalarFunction

# The mass of N(0, 1) beyond this is 2e-23; polynomials of degree ten still vanish there.
RANGE = 10.0
# Nodes a panel. On a panel as wide as half the distance to the nearest singularity the error
# falls as (2 + sqrt(5))^(-2 NODES) at least, below rounding.
NODES = 14
_BASE_EDGES = np.arange(-RANGE, RANGE + 1)
_LEGENDRE = roots_legendre(NODES)


def split_rule(edges: Array) -> tuple[Array, Array]:
    """Give nodes and weights of composite Gauss-Legendre under N(0, 1) between sorted edges.

    Parameters
    ----------
    edges : Array, shape (..., E)
        Ends of the panels; panels of no width carry no weight.

    Returns
    -------
    nodes, weights : Array, shape (..., (E - 1) NODES)
    """
    centre = (edges[..., 1:] + edges[..., :-1]) / 2
    half = np.diff(edges) / 2
    nodes = centre[..., None] + half[..., None] * _LEGENDRE[0]
    density = np.exp(-(nodes**2) / 2) / np.sqrt(2 * np.pi)
    weights = half[..., None] * _LEGENDRE[1] * density
    shape = (*edges.shape[:-1], -1)
    return nodes.reshape(shape), weights.reshape(shape)


def graded_edges(centre: float, scale: float) -> Array:
    """Give panel edges that resolve a feature of width `scale` at `centre` within unit panels.

    Edges stand at `centre` and at distances that grow geometrically from `scale` to 1. A scale of
    zero (a jump) takes the one edge; a scale of one or more needs none but it.
    """
    if not 0 < scale < 1:
        return np.array([centre])
    distance = scale * 1.5 ** np.arange(np.ceil(np.log(1 / scale) / np.log(1.5)) + 1)
    return np.concatenate([centre - distance[::-1], [centre], centre + distance])


def unit_edges(extra: Array) -> Array:
    """Sort `extra` edges, clipped to the range, among unit panels; acts on the last axis."""
    extra = np.clip(extra, -RANGE, RANGE)
    base = np.broadcast_to(_BASE_EDGES, (*extra.shape[:-1], _BASE_EDGES.size))
    return np.sort(np.concatenate([base, extra], axis=-1), axis=-1)


def moments(function: ScalarFunction, mean: Array | float, std: float) -> GaussianMoments:
    """Compute E f, E z f and the residual of f(mean + std z), z ~ N(0, 1).

    Closed form where the function has one, else quadrature split at its kinks.

    Parameters
    ----------
    function : ScalarFunction
    mean : Array, any shape
    std : float
        Non-negative; zero gives f itself.
    """
    mean = np.asarray(mean, dtype=float)
    if std == 0:
        return GaussianMoments(function.value(mean), np.zeros_like(mean), np.zeros_like(mean))
    if function.moments is not None:
        return function.moments(mean, std)
    # Edges at every kink (at the origin where there is none) and, for wide Gaussians, at unit
    # and doubled distances around it: there the function bends on its own scale of one.
    distances = np.array([0, 1, 2, 4, 8, -1, -2, -4, -8.0]) if std > 1 else np.zeros(1)
    places = np.add.outer(function.kinks or (0.0,), distances).ravel()
    z, weights = split_rule(unit_edges((places - mean[..., None]) / std))
    values = function.value(mean[..., None] + std * z)
    first = np.sum(weights * values, axis=-1)
    slope = np.sum(weights * z * values, axis=-1)
    rest = values - first[..., None] - slope[..., None] * z
    return GaussianMoments(first, slope, np.sum(weights * rest**2, axis=-1))


def derivative_variance(function: ScalarFunction) -> float:
    """Compute Var f'(z), z ~ N(0, 1): the squared hcheck of theory.md section 2."""
    z, weights = split_rule(unit_edges(np.array(function.kinks)))
    slope = function.derivative(z)
    return float(weights @ (slope - weights @ slope) ** 2)


def hermite_coefficients(function: ScalarFunction, degree: int) -> Array:
    """Compute E f(z) He_k(z) / sqrt(k!) for k = 0 ... degree.

    Parameters
    ----------
    function : ScalarFunction
    degree : int
        At most about 150: beyond, unit panels do not resolve He_k.

    Returns
    -------
    Array, shape (degree + 1,)
    """
    z, weights = split_rule(unit_edges(np.array(function.kinks)))
    weighted = weights * function.value(z)
    coefficients = np.empty(degree + 1)
    previous, current = np.zeros_like(z), np.ones_like(z)
    for k in range(degree + 1):
        coefficients[k] = weighted @ current
        previous, current = current, (z * current - np.sqrt(k) * previous) / np.sqrt(k + 1)
    return coefficients
