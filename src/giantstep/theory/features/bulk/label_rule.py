"""A quadrature rule over the labels of the first batch: docs/trained-bulk.md.

Labels are `y = f*(s) + noise` with s ~ N(0, 1). Integrands are functions of y, times s^0, s^1 or
s^2, which vary on the scale of y itself and, near zero, on that of the damping factor
`1/(1 + sharpness y^2)`: `1/sqrt(sharpness)`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import roots_hermitenorm, roots_legendre

from giantstep.arrays import Array, Mask
from giantstep.numerics.linear_systems import TINY
from giantstep.numerics.quadrature import NODES, RANGE, graded_edges, split_rule, unit_edges
from giantstep.numerics.scalar_functions import ScalarFunction
from giantstep.problems.readout import Vocabulary

# The rule over s has no more panels than this.
_MOST_PANELS = 600
# A smaller sharpness is treated as this one, at which the damping is smooth.
_LEAST_SHARPNESS = 1e-2
# Farther from zero than this many standard deviations, noise is averaged over with a few nodes.
_NEAR, _NOISE_NODES = 10, 24
# Natural logarithm of the error of an interpolation, and nodes for squares of what it interpolates.
_DIGITS, _MORE = 38.0, 8


class BatchRule(NamedTuple):
    """A rule for averages over a batch of powers of y and s, with factors 1/(1 + w y^2/alpha0).

    Attributes
    ----------
    squares : Array, shape (N,)
        y^2.
    integrands : Array, shape (N, 7)
        The powers of `DampedMoments`, times the weights of the rule.
    """

    squares: Array
    integrands: Array

    def compressed(self, largest: float) -> BatchRule:
        """Find a rule for `0 <= w/alpha0 <= largest` with fewer nodes, if there is one.

        The factors are analytic in y^2 but for a pole at -alpha0/w: from zero to the distance of
        the nearest pole, and from each size to four times that size, polynomials at few Chebyshev
        nodes interpolate them, to rounding, so that only averages of these are needed.
        """
        count = max(0, math.ceil(math.log(float(self.squares.max()) * largest, 4)))
        inner = 4.0 ** np.arange(count) / largest
        part, ends = np.searchsorted(inner, self.squares), [0.0, *inner, self.squares.max()]
        rules = [
            self._interpolated(part == k, lower, upper, 1 / largest)
            for k, (lower, upper) in enumerate(pairwise(ends))
        ]
        squares = np.concatenate([rule.squares for rule in rules])
        return BatchRule(squares, np.concatenate([rule.integrands for rule in rules]))

    def _interpolated(self, inside: Mask, lower: float, upper: float, distance: float) -> BatchRule:
        """Interpolate between two squares; the pole is as far below zero as the distance."""
        part = BatchRule(self.squares[inside], self.integrands[inside])
        middle, half = (upper + lower) / 2, (upper - lower) / 2
        pole = (middle + distance) / half  # where the interval is from -1 to 1
        size = _MORE + math.ceil(_DIGITS / math.log(pole + math.sqrt(pole**2 - 1)))
        if size >= part.squares.size:
            return part
        angles = (np.arange(size) + 0.5) * math.pi / size
        nodes = middle - half * np.cos(angles)
        weights = np.sin(angles) * (-1.0) ** np.arange(size)
        gap = part.squares[:, None] - nodes
        ratios = weights / np.where(gap == 0, TINY, gap)
        interpolation = ratios / ratios.sum(axis=1, keepdims=True)
        return BatchRule(nodes, interpolation.T @ part.integrands)


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
    parts = [
        (*_rule_at(target, noise, sharpness, fineness), fraction)
        for noise, fraction in noise_levels
    ]
    return (
        np.concatenate([y for y, _, _ in parts]),
        np.hstack([fraction * weights for _, weights, fraction in parts]),
    )


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


@lru_cache(maxsize=16)  # rules of several finenesses have the same
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
    nodes, node_weights = roots_hermitenorm(_NOISE_NODES * fineness)
    noisy = np.add.outer(y, std * nodes).ravel()
    return noisy, np.multiply.outer(weights, node_weights / node_weights.sum()).reshape(3, -1)


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
