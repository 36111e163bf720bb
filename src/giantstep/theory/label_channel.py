"""The information that a label has on the projection of its input: docs/best-possible.md.

A label y has the law P(y | z) given the projection z of its input on the target's direction. After
some samples z is Gaussian with mean omega and variance V = 1 - q, where q is the squared overlap of
the estimated direction with the true one, and omega is N(0, q). `explained` averages the square of
a conditional mean, E (E[He_k(w) | y, omega])^2, where z = omega + sqrt(V) w and w is N(0, 1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from giantstep.arrays import Array
from giantstep.numerics.function_table import ScalarFunction
from giantstep.numerics.gaussian import hermite
from giantstep.numerics.linear_systems import TINY
from giantstep.numerics.monotone_pieces import Pieces
from giantstep.numerics.quadrature import normal_density, split_rule
from giantstep.validation import refusal

# Range of projections with noise: N(0, 1) has a mass of 4e-8 beyond.
_NOISY_RANGE = 5.5
# Factor on the nodes of a panel. Steps of trapezoidal rules: over u of `omega = q z + sqrt(q V) u`;
# over y, in units of the noise; over omega, in units of its spread or of that of z given omega.
_FINENESS, _U_STEP, _Y_STEP, _OMEGA_STEP = 0.5, 0.2, 0.3, 0.2
# Least sqrt(V) that rules resolve, without noise and, in its units, with noise; most panels over z.
_SMALLEST, _SMALLEST_NOISY, _MOST_PANELS = 0.02, 0.1, 2_000


@dataclass
class Channel:
    """Labels of two kinds: on a grid, and those that come from one projection on each piece.

    Attributes
    ----------
    continuous : float
        The share of the second kind.
    smallest : float
        The least sqrt(V) that rules resolve.
    half : bool
        Whether f is odd or even, so that rules cover one half.
    z : Array, shape (Z,)
    labels : Array, shape (Y, Z)
        P(y | z), times weights of rules over y and z.
    nodes, weights : Array, shape (N,)
        A rule over projections with labels of the second kind.
    branches, logs : Array, shape (N, B)
        The projections that have the same label, and their log densities.
    """

    continuous: float
    smallest: float
    half: bool
    z: Array
    labels: Array
    nodes: Array
    weights: Array
    branches: Array
    logs: Array

    def explained(self, degree: int, q: float) -> float:
        """Compute E (E[He_k(w) | y, omega])^2."""
        V, total = 1 - q, 0.0
        if self.labels.size:
            step = _OMEGA_STEP * min(1, np.sqrt(V / max(q, 1e-9)))
            xi = step * np.arange(0 if self.half else -np.ceil(6 / step), np.ceil(6 / step))
            weights = normal_density(xi) * np.where(self.half & (xi > 0), 2, 1)
            w = (self.z[:, None] - np.sqrt(q) * xi) / np.sqrt(V)
            given = normal_density(w) / np.sqrt(V)
            p, first = self.labels @ given, self.labels @ (given * hermite(degree, w))
            square = np.sum(first**2 / np.maximum(p, TINY), axis=0)
            total += float(weights @ square / weights.sum())
        if self.nodes.size:
            u = np.arange(-8, 8 + _U_STEP / 2, _U_STEP)
            omega = q * self.nodes[:, None] + np.sqrt(q * V) * u
            mean = posterior_mean(self.branches, self.logs, omega, V, degree)
            total += float(self.weights @ mean**2 @ normal_density(u)) * _U_STEP
        return total


def posterior_mean(z: Array, logs: Array, omega: Array, V: float, degree: int = 1) -> Array:
    """Compute E[He_k(w) | y, omega] from what `Pieces.preimages` finds for y.

    Parameters
    ----------
    z, logs : Array, shape (N, B)
        Projections that labels may come from, with their log densities.
    omega : Array, shape (N, U)
    V : float
    degree : int
    """
    w = (z[:, None] - omega[..., None]) / np.sqrt(V)
    p = logs[:, None] - w**2 / 2
    p = np.exp(p - p.max(axis=-1, keepdims=True))
    return np.sum(p * hermite(degree, w), axis=-1) / p.sum(axis=-1)


def exact_channel(function: ScalarFunction, signs: Mapping[int, float]) -> Channel:
    """Make the channel of labels y = s f(z), where signs s have some shares.

    Given y, projections are at most one on each monotone piece of f, with weights 1/|f'|, or fill
    intervals where f is constant.
    """
    pieces = Pieces(function)
    level = pieces.values[:, 0] == pieces.values[:, 1]
    z, weights = _resolving_rule(function, math.inf, _SMALLEST)
    here = pieces.holding(z, level)
    z, weights = z[here], weights[here]
    values = np.unique(np.outer(list(signs), pieces.values[level]))[:, None]
    labels = sum(share * (sign * function.value(z) == values) for sign, share in signs.items())
    at, of_at = pieces.graded_rule(_FINENESS)
    here = pieces.holding(at, ~level)
    at, of_at = at[here], of_at[here]
    y = np.concatenate([sign * function.value(at) for sign in signs])
    found = [(*pieces.preimages(sign * y), np.log(share)) for sign, share in signs.items()]
    return Channel(
        1 - float(np.diff(ndtr(pieces.ends[level])).sum()),
        _SMALLEST,
        function.parity != "none",
        z,
        labels * weights / normal_density(z),
        np.tile(at, len(signs)),
        np.concatenate([share * of_at for share in signs.values()]),
        np.hstack([places for places, _, _ in found]),
        np.hstack([logs + share for _, logs, share in found]),
    )


def noisy_channel(function: ScalarFunction, levels: Sequence[tuple[int, float, float]]) -> Channel:
    """Make the channel of labels y = s f(z) + noise.

    Parameters
    ----------
    function : ScalarFunction
    levels : sequence of (int, float, float)
        Sign, variance > 0 of Gaussian noise, and share.

    Raises
    ------
    InvalidParametersError
        If rules do not resolve the noise.
    """
    deviations = [variance**0.5 for _, variance, _ in levels]
    noise, none = min(deviations), np.empty(0)
    smallest = _SMALLEST_NOISY * min(1, noise)
    z, weights = _resolving_rule(function, noise, smallest)
    f, h = function.value(z), _Y_STEP * noise
    reach = np.abs(f).max() + 8 * max(deviations)
    y = np.arange(-reach, reach, h)[:, None]
    labels = sum(
        share / deviation * normal_density((y - sign * f) / deviation)
        for (sign, _, share), deviation in zip(levels, deviations, strict=True)
    )
    labels = h * labels * weights / normal_density(z)
    return Channel(0.0, smallest, function.parity != "none", z, labels, none, none, none, none)


def _resolving_rule(function: ScalarFunction, noise: float, smallest: float) -> tuple[Array, Array]:
    """Build a rule under N(0, 1) that resolves a noise of f and a spread of z."""
    z = np.linspace(-_NOISY_RANGE, _NOISY_RANGE, 20_001)
    slope = np.abs(function.derivative(z) + 0 * z)
    count = np.cumsum(np.maximum(slope / noise, 0.5 / smallest)) * (z[1] - z[0])
    if count[-1] > _MOST_PANELS:
        least = (noise * count[-1] / _MOST_PANELS) ** 2
        allowed = f"0, or at least {least:.2g}, for the best possible error"
        raise refusal("noise", noise**2, allowed)
    edges = np.interp(np.arange(count[0], count[-1]), count, z)
    return split_rule(np.unique([z[0], *edges, *function.kinks, z[-1]]), _FINENESS)
