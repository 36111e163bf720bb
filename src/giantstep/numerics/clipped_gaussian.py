"""Moments of a Gaussian that is clipped to an interval."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.linear_systems import TINY
from giantstep.numerics.quadrature import (
    FARTHEST,
    legendre_rule,
    normal_density,
    normal_distribution,
)

# An interval that is narrower than this, in standard deviations, is integrated by a Gauss-Legendre
# rule: differences of normal distributions would cancel.
_THIN = 0.05
# Its three nodes are accurate to 1e-12.
_THIN_NODES, _THIN_WEIGHTS = np.reshape(legendre_rule(3), (2, 3, 1))


class Tail(NamedTuple):
    """The probability that t > xi ~ N(0, 1), and E (t - xi)+."""

    t: Array
    mass: Array
    first: Array

    @classmethod
    def of(cls, t: Array, farthest: float) -> Tail:
        """Compute the tail beyond t, which is negligible beyond `farthest`."""
        mass, density = normal_distribution(t, farthest)
        t = np.clip(t, -FARTHEST, np.inf)  # twice as fast as `maximum`
        return cls(t, mass, t * mass + density)

    @property
    def second(self) -> Array:
        """E (t - xi)+^2."""
        return self.mass + self.t * self.first


class ClippedGaussian(NamedTuple):
    """A Gaussian u of unit variance, clipped to an interval.

    Attributes
    ----------
    inside : Array
        The probability of the interval.
    mean, square : Array
        E clip(u) and E clip(u)^2.
    below, above : Tail
        By how much u is beyond the interval.
    """

    inside: Array
    mean: Array
    square: Array
    below: Tail
    above: Tail

    @classmethod
    def of(cls, low: Array, high: Array, u: Array, farthest: tuple[float, ...]) -> ClippedGaussian:
        """Clip a u of some mean, shape (S, N, Z), to intervals of shape (S, N, 1).

        The tail below is negligible beyond the first of `farthest`, and that above the second.
        """
        below, above = map(Tail.of, (low - u, u - high), farthest)
        inside = 1 - below.mass - above.mass
        mean = u + below.first - above.first
        square = inside + u * mean + low * below.first - high * above.first
        width = (high - low)[..., 0]
        thin = (width < _THIN) & (width > TINY**0.5)  # a point has only tails
        if np.any(thin):
            a, b, lower, upper = low[thin], high[thin], below.mass[thin], above.mass[thin]
            inside[thin], first, second = _thin_moments(a, b, u[thin])
            mean[thin] = a * lower + b * upper + first
            square[thin] = a**2 * lower + b**2 * upper + second
        return cls(inside, mean, square, below, above)


def _thin_moments(low: Array, high: Array, mean: Array) -> Array:
    """Compute E 1, E u and E u^2 over thin intervals for u of unit variance, each as `mean`."""
    near, moments = np.abs(low - mean) < FARTHEST, np.zeros((3, *mean.shape))
    low, half, mean = (np.broadcast_to(x, mean.shape)[near] for x in (low, (high - low) / 2, mean))
    u = low + half * (1 + _THIN_NODES)
    mass = half * _THIN_WEIGHTS * normal_density(u - mean)
    moments[:, near] = np.stack([mass, u * mass, u * u * mass]).sum(axis=1)
    return moments
