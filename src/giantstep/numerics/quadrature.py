"""Quadrature under N(0, 1): the trapezoidal rule, and Gauss-Legendre rules on panels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import scipy  # whose modules are imported when they are first used
from scipy.special import ndtr, ndtri, roots_hermitenorm, roots_legendre

from giantstep.arrays import Array, Reals

# N(0, 1) has a mass of 2e-23 beyond this: even times polynomials of degree ten it is negligible.
RANGE = 10.0
# Enough for bounded integrands: the mass beyond is 2e-17.
BOUNDED_RANGE = 8.5
# Nodes per panel. If a panel is half as wide as the distance to the nearest singularity, the error
# is (2 + sqrt(5))^(-2 NODES) or less, below rounding.
NODES = 12
# Width of panels for integrands that vary on scales of one or more: their error is 1e-10 at most.
WIDE = 2.0
# Of trapezoidal rules, for integrands smoothed on a scale of one: an error of exp(-2 pi^2/step^2).
# Three directions have larger ones, for the sake of memory.
_SMOOTH_STEP, _LARGE_STEP = 0.75, 0.95
# Of edges, and of counts of panels.
_ROUNDING = 1e-9
# Of weights of a product rule, relatively.
_NEGLIGIBLE = 1e-15


def normal_density(z: Array) -> Array:
    """Compute the density of N(0, 1)."""
    return np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)


# In standard deviations: beyond the first exponentials would underflow, which takes long. Above the
# second the whole mass is below, to rounding.
FARTHEST, CERTAIN = 25.0, 8.5
_FAR_MASS, _FAR_DENSITY = ndtr(-FARTHEST), normal_density(np.array(FARTHEST))


def normal_distribution(t: Array, farthest: float = FARTHEST) -> tuple[Array, Array]:
    """Compute the mass of N(0, 1) below t and the density at t.

    Both are negligible for t below `-farthest`, and so is the density above `CERTAIN`: there the
    values at `-FARTHEST` take their place, and the mass above `CERTAIN` is one.
    """
    mass, density = np.where(t > 0, 1.0, _FAR_MASS), np.full_like(t, _FAR_DENSITY)
    near = (t > -farthest) & (t < CERTAIN)
    x = t[near]
    mass[near], density[near] = ndtr(x), normal_density(x)
    return mass, density


legendre_rule = cache(roots_legendre)


def split_rule(edges: Array, fineness: float = 1) -> tuple[Array, Array]:
    """Build the composite Gauss-Legendre rule under N(0, 1) on panels between sorted edges.

    Parameters
    ----------
    edges : Array, shape (..., E)
        Ends of the panels; panels of zero width have no weight.
    fineness : float
        Multiplies the number of nodes; more of them show the error.

    Returns
    -------
    nodes, weights : Array, shape (..., (E - 1) * NODES * fineness)
    """
    points, point_weights = legendre_rule(round(NODES * fineness))
    centre = (edges[..., 1:] + edges[..., :-1]) / 2
    half = np.diff(edges) / 2
    nodes = centre[..., None] + half[..., None] * points
    weights = half[..., None] * point_weights * normal_density(nodes)
    shape = (*edges.shape[:-1], half.shape[-1] * points.size)  # there may be no edges
    return nodes.reshape(shape), weights.reshape(shape)


# On panels that are as wide as smooth integrands allow, without the last 2e-9 of the mass.
WIDE_PANELS = split_rule(np.arange(-6.0, 7.0, WIDE))


def strip_step(strip: Reals, fineness: float = 1) -> Reals:
    """Choose the step h of trapezoidal rules under N(0, 1), for what is analytic in |Im z| < strip.

    Their error is exp(-2 pi strip/h) or, because the Gaussian grows away from the real line,
    exp(-2 pi^2/h^2), whichever is larger. The step is such that both are rounding, or have as many
    digits times the fineness.
    """
    return np.minimum(0.7 / math.sqrt(fineness), 2 * np.pi * 0.95 * strip / 37 / fineness)


def strip_rule(strip: float, fineness: float = 1) -> tuple[Array, Array]:
    """Build the trapezoidal rule under N(0, 1) with this step."""
    step = float(strip_step(np.array(strip), fineness))
    count = int(np.ceil(BOUNDED_RANGE / step))
    nodes: Array = step * np.arange(-count, count + 1).astype(float)
    return nodes, step * normal_density(nodes)


def midpoint_rule(step: float) -> tuple[Array, Array]:
    """Build the trapezoidal rule under N(0, 1) on nodes half a step from zero."""
    right = step * np.arange(0.5, RANGE / step)
    nodes = np.concatenate([-right[::-1], right])
    return nodes, step * normal_density(nodes)


def graded_edges(centre: float, scale: float, panel: float = 1.0) -> Array:
    """Build panel edges that resolve a feature of width `scale` at `centre` among unit panels.

    Panels are `panel` times that wide around the centre, as far out as a Gaussian-smoothed step
    varies by more than rounding, and widen from there. A scale of zero (a jump) needs only one
    edge.
    """
    if not 0 < scale < 1:
        return np.array([centre])
    width = panel * scale
    near = np.arange(1, min(np.ceil(10 / panel), np.ceil(RANGE / width)) + 1)
    far = near[-1] * 1.5 ** np.arange(1, np.ceil(np.log(RANGE / width / near[-1]) / np.log(1.5)))
    distance = width * np.concatenate([near, far])
    return np.concatenate([centre - distance[::-1], [centre], centre + distance])


def unit_edges(extra: Array, width: float = 1.0) -> Array:
    """Merge `extra` edges, clipped to the range, with those of unit panels, along the last axis.

    Panels of another width divide the range, too.
    """
    extra = np.clip(extra, -RANGE, RANGE)
    edges = np.linspace(-RANGE, RANGE, 1 + round(2 * RANGE / width))
    base = np.broadcast_to(edges, (*extra.shape[:-1], edges.size))
    return np.sort(np.concatenate([base, extra], axis=-1), axis=-1)


def merged_edges(parts: Sequence[Array], width: float) -> Array:
    """Choose panels from end to end, no wider than `width`, nor than those of any part there.

    The middle edge of each part is an edge. To merge all edges would leave many narrow panels.
    """
    inner = [np.clip(part, -RANGE, RANGE) for part in parts]
    edges = np.unique(np.concatenate([[-RANGE, RANGE], *inner]))
    size = np.diff(edges)
    widths = np.full(size.shape, width)
    for part in inner:
        of_part = np.unique([-RANGE, *part, RANGE])
        place = np.searchsorted(of_part, edges[:-1] + size / 2)
        widths = np.minimum(widths, np.diff(of_part)[place - 1])
    # How many panels there are up to an edge: a whole number at those in the middle.
    count = np.concatenate([[0], np.cumsum(size / widths)])
    middles = [part[part.size // 2] for part in inner]
    fixed = count[np.searchsorted(edges, np.unique([-RANGE, *middles, RANGE]))]
    whole = np.concatenate([[0], np.cumsum(np.ceil(np.diff(fixed) - _ROUNDING))])
    merged = np.interp(np.arange(whole[-1] + 1), np.interp(count, fixed, whole), edges)
    mirrored = -merged[::-1]
    symmetric = np.allclose(merged, mirrored, rtol=0, atol=_ROUNDING)
    return (merged + mirrored) / 2 if symmetric else merged


def product_rule(directions: int, nodes: int) -> tuple[Array, Array]:
    """Return nodes, shape (N, directions), and weights of the Gauss-Hermite product for N(0, I)."""
    points, weight = roots_hermitenorm(nodes)
    z = np.stack(np.meshgrid(*[points] * directions, indexing="ij"), axis=-1)
    weights = np.prod(np.meshgrid(*[weight / weight.sum()] * directions, indexing="ij"), axis=0)
    return z.reshape(-1, directions), weights.ravel()


def smooth_rule(scales: Array, fineness: float = 1) -> tuple[Array, Array]:
    """Return nodes, shape (D, N), and weights of a product of trapezoidal rules under N(0, I).

    Parameters
    ----------
    scales : Array, shape (D,)
        In each direction integrands vary as what is averaged over a Gaussian of this width.
    fineness : float
        Multiplies the number of nodes, of all directions together.
    """
    step = _LARGE_STEP if scales.size > 2 else _SMOOTH_STEP
    steps = step * scales / np.hypot(1, scales) / fineness ** (1 / scales.size)
    axes = [h * np.arange(-np.ceil(BOUNDED_RANGE / h), BOUNDED_RANGE / h + 1) for h in steps]
    nodes = np.stack([x.ravel() for x in np.meshgrid(*axes, indexing="ij")])
    return nodes, np.prod(steps[:, None] * normal_density(nodes), axis=0)


def with_product(
    first: tuple[Array, Array], other: tuple[Array, Array]
) -> tuple[Array, Array, Array]:
    """Multiply a rule, nodes of shape (N,), with one of nodes (D, M), in this order.

    Returns
    -------
    nodes, others, weights : Array, shape (K,), (D, K) and (K,)
        Without those of negligible weight.
    """
    weights = np.multiply.outer(first[1], other[1])
    i, j = np.nonzero(weights > _NEGLIGIBLE * weights.max())
    return first[0][i], other[0][:, j], weights[i, j]


def quasi_random(dim: int, blocks: int, n: int) -> Array:
    """Choose blocks of n standard normal points, each with its mirror images and whitened."""
    shift = np.random.default_rng(0).random((blocks, 1, dim))
    sequence = scipy.stats.qmc.Sobol(dim, scramble=False).random_base2(math.ceil(math.log2(n / 2)))
    half = ndtri((sequence[: n // 2] + shift) % 1)
    points = np.concatenate([half, -half], axis=1)
    root = np.linalg.cholesky(points.transpose(0, 2, 1) @ points / points.shape[1])
    return points @ np.linalg.inv(root).transpose(0, 2, 1)


def gamma_rule(variance: Array, count: int) -> tuple[Array, Array]:
    """Choose Gauss's nodes and weights for Gamma laws of mean one, shape (N, count).

    Examples
    --------
    >>> rho, weight = gamma_rule(np.array([0.0, 0.2]), 3)
    >>> np.sum(weight * rho, axis=1).round(12), np.sum(weight * rho**2, axis=1).round(12)
    (array([1., 1.]), array([1. , 1.2]))
    """
    i, v = np.arange(count), variance[:, None]
    jacobi = np.zeros((variance.size, count, count))
    jacobi[:, i, i] = 1 + 2 * i * v
    jacobi[:, i[1:], i[:-1]] = np.sqrt(i * v * (1 + (i - 1) * v))[:, 1:]
    rho, vectors = np.linalg.eigh(jacobi)
    return rho, vectors[:, 0] ** 2
