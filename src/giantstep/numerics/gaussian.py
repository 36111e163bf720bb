"""Expectations under N(0, 1): a rule for smooth integrands, and one split where they are not."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.special import roots_legendre

from giantstep.arrays import Array
from giantstep.numerics.scalar_functions import GaussianMoments, ScalarFunction

# The mass of N(0, 1) beyond this is 2e-23; polynomials of degree ten still vanish there.
RANGE = 10.0
# For bounded integrands this is enough: 2e-17 lies beyond.
BOUNDED_RANGE = 8.5
# Nodes a panel. On a panel as wide as half the distance to the nearest singularity the error
# falls as (2 + sqrt(5))^(-2 NODES) at least, below rounding.
NODES = 12
_BASE_EDGES = np.arange(-RANGE, RANGE + 1)


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
    weights = half[..., None] * point_weights * _density(nodes)
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
    return nodes, step * _density(nodes)


def _density(z: Array) -> Array:
    density: Array = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return density


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


def moments(
    function: ScalarFunction, mean: Array | float, std: float, fineness: int = 1
) -> GaussianMoments:
    """Compute E f, E z f and the residual of f(mean + std z), z ~ N(0, 1).

    Closed form where the function has one; else the trapezoidal rule where it is analytic, and
    quadrature split at its kinks where it is not.

    Parameters
    ----------
    function : ScalarFunction
    mean : Array, any shape
    std : float
        Non-negative; zero gives f itself.
    fineness : int
        Multiplies the number of nodes of the split rule; the others are at rounding anyway.
    """
    mean = np.asarray(mean, dtype=float)
    if std == 0:
        return GaussianMoments(function.value(mean), np.zeros_like(mean), np.zeros_like(mean))
    if function.moments is not None:
        return function.moments(mean, std)
    if function.strip is not None:
        z, weights = strip_rule(function.strip / std)
    else:
        # Edges at every kink (the origin where there is none) and, for wide Gaussians, at unit
        # and doubled distances around it: there the function bends on its own scale of one.
        distances = np.array([0, 1, 2, 4, 8, -1, -2, -4, -8.0]) if std > 1 else np.zeros(1)
        places = np.add.outer(function.kinks or (0.0,), distances).ravel()
        z, weights = split_rule(unit_edges((places - mean[..., None]) / std), fineness)
    values = function.value(mean[..., None] + std * z)
    first = np.sum(weights * values, axis=-1)
    slope = np.sum(weights * z * values, axis=-1)
    values -= first[..., None] + slope[..., None] * z
    return GaussianMoments(first, slope, np.sum(weights * values**2, axis=-1))


def expectation(function: ScalarFunction, values: Callable[[Array], Array]) -> float:
    """Compute E values(z), z ~ N(0, 1), for an integrand that is smooth but at f's kinks."""
    z, weights = split_rule(unit_edges(np.array(function.kinks)))
    return float(weights @ values(z))


@cache
def derivative_variance(function: ScalarFunction) -> float:
    """Compute Var f'(z), z ~ N(0, 1): the squared hcheck of theory.md section 2."""
    mean = expectation(function, function.derivative)
    return expectation(function, lambda z: (function.derivative(z) - mean) ** 2)


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
