"""Gaussian moments that are known in closed form: those of `GaussianMoments`, for std > 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import erf, erfc, ndtr

from giantstep.arrays import Array
from giantstep.numerics.quadrature import normal_density


@dataclass(frozen=True)
class GaussianMoments:
    """Moments of f(t), `t = mean + std z`, under z ~ N(0, 1); theory.md sections 2-4.

    Attributes
    ----------
    mean : Array
        E f(t).
    slope : Array
        E z f(t).
    residual : Array
        E (f(t) - mean - slope z)^2, the part of f that is not linear in z; never negative.
    """

    mean: Array
    slope: Array
    residual: Array

    @property
    def second(self) -> Array:
        """E f(t)^2."""
        return self.residual + self.mean**2 + self.slope**2


Moments = Callable[[Array, Array | float], GaussianMoments]


def sign_moments(mean: Array, std: Array | float) -> GaussianMoments:
    """Compute the moments of the sign."""
    x = mean / (np.sqrt(2) * std)
    slope = np.sqrt(2 / np.pi) * np.exp(-(x**2))
    tail = erfc(np.abs(x))  # 1 - erf^2 = tail (2 - tail), without cancellation
    return GaussianMoments(erf(x), slope, np.maximum(tail * (2 - tail) - slope**2, 0))


def sin_moments(mean: Array, std: Array | float) -> GaussianMoments:
    """Compute the moments of the sine."""
    damping = np.exp(-(std**2) / 2)
    value, slope = damping * np.sin(mean), std * damping * np.cos(mean)
    second = (1 - damping**4 * np.cos(2 * mean)) / 2
    return GaussianMoments(value, slope, np.maximum(second - value**2 - slope**2, 0))


def _ramp(mean: Array, std: Array | float) -> tuple[Array, Array, Array]:
    """Compute E f, E f' and E f^2 of f = max(t, 0)."""
    x = mean / std
    mass, density = ndtr(x), normal_density(x)
    second = (mean**2 + std**2) * mass + mean * std * density
    return mean * mass + std * density, mass, np.maximum(second, 0)


def leaky_moments(below: float) -> Moments:
    """Make the moments of max(t, 0) + below min(t, 0), a line with a bend at the origin."""

    def moments(mean: Array, std: Array | float) -> GaussianMoments:
        ramp, mass, _ = _ramp(mean, std)
        # max(t, 0) and max(-t, 0) differ by t, so they have the same residual, small in the tail.
        tail, tail_mass, second = _ramp(-np.abs(mean), std)
        residual = np.maximum(second - tail**2 - (std * tail_mass) ** 2, 0)
        value, slope = below * mean + (1 - below) * ramp, below * std + (1 - below) * (std * mass)
        return GaussianMoments(value, slope, (1 - below) ** 2 * residual)

    return moments


# By the name of the function.
CLOSED_FORMS: dict[str, Moments] = {
    "sign": sign_moments,
    "sin": sin_moments,
    "relu": leaky_moments(0.0),
    "leaky_relu": leaky_moments(0.01),
    "abs": leaky_moments(-1.0),
}
