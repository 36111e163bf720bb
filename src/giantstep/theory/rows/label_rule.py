"""A quadrature rule over the labels of the first batch: docs/theory/trained-bulk.md.

Labels are `y = f*(s) + noise` with s ~ N(0, 1). Integrands are functions of y, times s^0, s^1 or
s^2, which vary on the scale of y itself and, near zero, on that of the damping factor
`1/(1 + sharpness y^2)`: `1/sqrt(sharpness)`.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import roots_legendre

from giantstep.arrays import Array, RealOrComplex
from giantstep.numerics.function_table import ScalarFunction
from giantstep.numerics.quadrature import (
    NODES,
    RANGE,
    graded_edges,
    product_rule,
    split_rule,
    unit_edges,
)
from giantstep.problems.readout import Vocabulary
from giantstep.theory.rows.batch_rule import residual_rule
from giantstep.theory.rows.label_path import label_path

# The rule over s has no more panels than this.
_MOST_PANELS = 600
# A smaller sharpness is treated as this one, at which the damping is smooth.
_LEAST_SHARPNESS = 1e-2
# Farther from zero than this many standard deviations, noise is averaged over with a few nodes.
_NEAR, _NOISE_NODES = 10, 24
# On the path, rarer labels are left out.
_RARE = 1e-10


def label_rule(
    target: ScalarFunction, noise_levels: Vocabulary, sharpness: float, fineness: int
) -> tuple[Array, Array]:
    """Build nodes and weights of E[s^j g(y)], j = 0, 1, 2.

    For an odd target without noise only half of the nodes are kept: such rules are for integrands
    y^i s^j with an even i + j.

    Parameters
    ----------
    target : ScalarFunction
    noise_levels : tuple of (variance, fraction)
        The labels' noise.
    sharpness : float
    fineness : int
        Multiplies the number of nodes.

    Returns
    -------
    y : Array, shape (N,)
    weights : Array, shape (3, N)
    """
    rules = [_rule_at(target, noise, sharpness, fineness) for noise, _ in noise_levels]
    weights = [share * of for (_, of), (_, share) in zip(rules, noise_levels, strict=True)]
    return np.concatenate([y for y, _ in rules]), np.hstack(weights)


def label_rule_on_path(
    target: ScalarFunction, noise_levels: Vocabulary, sharpness: float
) -> tuple[RealOrComplex, RealOrComplex]:
    """Build nodes and weights as `label_rule` does, on `label_path`."""
    width = 1 / math.sqrt(max(sharpness, _LEAST_SHARPNESS))
    s, weight = split_rule(_edges(target, width))
    moved, factors, y = label_path(s, target.value(s))
    powers = weight * factors * moved ** np.arange(3)[:, None]
    kept = weight > _RARE
    rule = residual_rule(noise_levels, y[None, kept], powers[:, None, kept], width)
    return rule.rho[0], rule.weights[:, 0]


def _rule_at(
    target: ScalarFunction, noise: float, sharpness: float, fineness: int
) -> tuple[Array, Array]:
    """Build `label_rule` at one variance of the noise."""
    width, std = 1 / math.sqrt(max(sharpness, _LEAST_SHARPNESS)), math.sqrt(noise)
    s, weight = split_rule(_edges(target, max(width, std)), fineness)
    if target.parity == "odd" and noise == 0:
        s, weight = s[s > 0], 2 * weight[s > 0]
    y, weights = target.value(s), weight * s ** np.arange(3)[:, None]
    if noise == 0:
        return y, weights
    near = (np.abs(y) < _NEAR * std) & (width < _NEAR * std)
    parts = (
        _with_noise_near_zero(y[near], weights[:, near], std, width, fineness),
        _with_noise(y[~near], weights[:, ~near], std, fineness),
    )
    return np.concatenate([part[0] for part in parts]), np.hstack([part[1] for part in parts])


def _edges(target: ScalarFunction, width: float) -> Array:
    """Place panels of s on each of which g(f*(s)) varies little.

    Around f* = 0 it varies on the scale `width` of f*, farther away on that of f* itself.
    """
    grid = np.linspace(-RANGE, RANGE, 20_001)
    steepness = np.abs(target.derivative(grid))
    panels = 1 + steepness / np.maximum(np.abs(target.value(grid)) / 2, width)
    count = np.cumsum(panels) * (grid[1] - grid[0])
    wanted = np.arange(count[0], count[-1], max(1.0, (count[-1] - count[0]) / _MOST_PANELS))
    return unit_edges(np.concatenate([target.kinks, np.interp(wanted, count, grid)]))


def _with_noise(y: Array, weights: Array, std: float, fineness: int) -> tuple[Array, Array]:
    """Add noise on whose scale the integrand is smooth."""
    nodes, node_weights = product_rule(1, _NOISE_NODES * fineness)
    noisy = (y[:, None] + std * nodes[:, 0]).ravel()
    return noisy, np.multiply.outer(weights, node_weights).reshape(3, -1)


def _with_noise_near_zero(
    y: Array, weights: Array, std: float, width: float, fineness: int
) -> tuple[Array, Array]:
    """Add noise by integrating over noisy labels: the nodes resolve `width` around zero."""
    reach = np.arange(-2.0 * _NEAR, 2 * _NEAR + 1)
    edges = std * np.union1d(reach, graded_edges(0.0, width / std))
    edges = edges[np.abs(edges) <= reach[-1] * std]
    points, point_weights = roots_legendre(NODES * fineness)
    half = np.diff(edges)[:, None] / 2
    noisy = ((edges[1:, None] + edges[:-1, None]) / 2 + half * points).ravel()
    density = np.exp(-(((noisy - y[:, None]) / std) ** 2) / 2) / (std * math.sqrt(2 * math.pi))
    return noisy, (weights @ density) * (half * point_weights).ravel()
