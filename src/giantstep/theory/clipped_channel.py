"""The output channel of square, Huber and hinge loss, whose g_out is a clipped straight line.

With the residual u of a prediction omega, `g_out = clip(u/w, low, high)` where
`w = inverse_curvature + V`: u is Gaussian given z, so that omega is integrated in closed form. The
rule over z splits at the teacher's kinks.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from giantstep.arrays import Array
from giantstep.numerics.quadrature import normal_density
from giantstep.problems.losses import ClippedLoss
from giantstep.problems.problem import noise_levels
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.channel_averages import ChannelAverages, LossAverages, PredictionMoments
from giantstep.theory.conditional_target import teacher_rule

# An interval between the clips that is narrower than this, in standard deviations of u, is
# integrated by a Gauss-Legendre rule: differences of normal distributions would cancel. Three
# nodes are accurate to 1e-12.
_THIN = 0.05
_THIN_NODES, _THIN_WEIGHTS = np.polynomial.legendre.leggauss(3)
# Thin intervals further out than this, in standard deviations, hold a probability below 1e-17.
_FAR = 9.0


class _ResidualMoments(NamedTuple):
    """Moments of a Gaussian residual u below, inside and above the interval (low w, high w).

    Attributes
    ----------
    below, inside, above : Array
        The probabilities of the three regions.
    first, second : Array
        E u/w and E (u/w)^2, inside.
    shortfall, excess : Array
        E (low w - u)+ and E (u - high w)+.
    """

    below: Array
    above: Array
    inside: Array
    first: Array
    second: Array
    shortfall: Array
    excess: Array

    @classmethod
    def of(cls, loss: ClippedLoss, w: Array, mean: Array, std: Array) -> _ResidualMoments:
        a, b = loss.low * w, loss.high * w
        below, low_density, shortfall = _tail((a - mean) / std, std)
        above, high_density, excess = _tail((mean - b) / std, std)
        inside = 1 - below - above
        first = mean * inside - std * (high_density - low_density)
        second = (mean**2 + std**2) * inside
        for end, density in ((a, -low_density), (b, high_density)):
            second = second - std * np.where(np.isfinite(end), end + mean, 0) * density
        with np.errstate(divide="ignore", invalid="ignore"):  # w may vanish: thin then
            moments = inside, first / w, second / w**2
        thin = np.broadcast_to(b - a < _THIN * std, inside.shape)
        if np.any(thin):
            for moment in moments:
                moment[thin] = 0.0
            thin = thin & (np.abs(mean) < _FAR * std)
            ends = (np.broadcast_to(x, thin.shape)[thin] for x in (a, b, w, mean, std))
            for moment, values in zip(moments, _thin_moments(*ends), strict=True):
                moment[thin] = values
        return cls(below, above, *moments, shortfall, excess)


def _tail(t: Array, std: Array) -> tuple[Array, Array, Array]:
    """Compute P(z < t), the density of z at t, and `std E (t - z)+`, for z ~ N(0, 1)."""
    mass, density = ndtr(t), normal_density(t)
    return mass, density, std * (np.where(np.isfinite(t), t, 0) * mass + density)


def _thin_moments(
    a: Array, b: Array, w: Array, mean: Array, std: Array
) -> tuple[Array, Array, Array]:
    """Compute E 1, E u/w and E (u/w)^2 over the thin interval (a, b)."""
    u = (a + b)[:, None] / 2 + (b - a)[:, None] / 2 * _THIN_NODES
    weight = normal_density((u - mean[:, None]) / std[:, None]) * _THIN_WEIGHTS
    weight *= ((b - a) / std / 2)[:, None]
    x = u / w[:, None]
    return weight.sum(axis=1), (weight * x).sum(axis=1), (weight * x**2).sum(axis=1)


class ClippedChannel:
    """Averages for a loss whose g_out is a clipped straight line: closed forms given z."""

    def __init__(self, loss: ClippedLoss, srf: SpikedFeatures, kappa: Array, fineness: int) -> None:
        self.loss, self.levels = loss, noise_levels(srf)
        self.labels, self.z, self.weight = teacher_rule(srf, kappa, fineness)

    def _average_over_z(self, values: Array, weight: Array | None = None) -> Array:
        """Sum values of shape (S, N, Z) against the rule, or another weight, over z."""
        weight = self.weight if weight is None else weight
        average: Array = np.einsum("snz,nz->sn", values, weight)
        return average

    def _residuals(self, at: PredictionMoments, noise: float) -> tuple[Array, Array]:
        """Compute mean and standard deviation of the residual given z, shape (S, N, Z)."""
        prediction = at.M[..., None] + at.P[..., None] * self.z
        rest = (at.Q - at.P**2 + noise)[..., None]
        return self.loss.residual(self.labels, prediction), np.sqrt(rest)

    def averages(self, at: PredictionMoments) -> ChannelAverages:
        """Average g_out, its derivative and its square."""
        loss = self.loss
        w = (loss.inverse_curvature + at.V)[..., None]
        low, high = (0.0 if math.isinf(end) else end for end in (loss.low, loss.high))
        sign = self.labels * self.weight if loss.margin else self.weight
        g, z_g, minus_dg, g_squared = (np.zeros(at.V.shape) for _ in range(4))
        for noise, share in self.levels:
            u = _ResidualMoments.of(loss, w, *self._residuals(at, noise))
            first = low * u.below + high * u.above + u.first
            second = low**2 * u.below + high**2 * u.above + u.second
            g += share * self._average_over_z(first, sign)
            z_g += share * self._average_over_z(first, sign * self.z)
            minus_dg += share * self._average_over_z(u.inside) / w[..., 0]
            g_squared += share * self._average_over_z(second)
        return ChannelAverages(g, z_g, minus_dg, g_squared)

    def losses(self, at: PredictionMoments) -> LossAverages:
        """Average errors and losses."""
        return LossAverages(
            self._training_error(at),
            self._loss(at, at.V, self.levels),
            self._loss(at, np.zeros_like(at.V), ((0.0, 1.0),)),
        )

    def _training_error(self, at: PredictionMoments) -> Array:
        """Average `(u - V g)^2`, the squared residual at the proximal point."""
        loss, V = self.loss, at.V[..., None]
        w = loss.inverse_curvature + V
        total = np.zeros(at.V.shape)
        for noise, share in self.levels:
            mean, std = self._residuals(at, noise)
            u = _ResidualMoments.of(loss, w, mean, std)
            # Inside, u - V g is inverse_curvature u/w; beyond the clips it is u - V high (or low).
            error = loss.inverse_curvature**2 * u.second
            for end, signed_mean in ((loss.high, mean), (-loss.low, -mean)):
                if math.isfinite(end):
                    error = error + _square_beyond(end * w, end * V, signed_mean, std)
            total += share * self._average_over_z(error)
        return total

    def _loss(
        self, at: PredictionMoments, V: Array, levels: tuple[tuple[float, float], ...]
    ) -> Array:
        """Average the loss at the proximal point or, with V = 0, at the prediction itself."""
        loss = self.loss
        w = (loss.inverse_curvature + V)[..., None]
        total = np.zeros(V.shape)
        for noise, share in levels:
            mean, std = self._residuals(at, noise)
            u = _ResidualMoments.of(loss, np.maximum(w, 1e-300), mean, std)
            value = loss.inverse_curvature * u.second / 2
            for end, tail, distance in (
                (loss.low, u.below, u.shortfall),
                (loss.high, u.above, u.excess),
            ):
                if math.isfinite(end):
                    linear = abs(end) * distance
                    value = value + linear + loss.inverse_curvature * end**2 * tail / 2
            total += share * self._average_over_z(value)
        return total


def _square_beyond(edge: Array, shift: Array, mean: Array, std: Array) -> Array:
    """Compute E (u - shift)^2 over u > edge."""
    t = (mean - edge) / std
    square: Array = ((mean - shift) ** 2 + std**2) * ndtr(t)
    square += std * (mean + edge - 2 * shift) * normal_density(t)
    return square
