"""How samples pull on their predictions, averaged: the expectations of theory.md section 6.

Given kappa, a fresh prediction omega and the teacher's z are Gaussian, of means M and 0, variances
Q and 1 and covariance P. A training sample moves its prediction to the proximal point, by V times
its pull f; equations for the readout hold averages of f over z, omega and the label's noise.

For clipped losses omega is integrated in closed form given z, and then z, between the teacher's
kinks. For the logistic loss z is integrated in closed form given omega, and then omega, by the
trapezoidal rule: the prox is analytic in the strip |Im omega| < pi, whatever V.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import ndtr

from giantstep.arrays import Array
from giantstep.numerics.quadrature import normal_density, split_rule, strip_rule, unit_edges
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.losses import ClippedLoss, LogisticLoss, Loss
from giantstep.problems.problem import noise_levels
from giantstep.problems.spiked_features import SpikedFeatures

# Clipped regions below this share of the standard deviation are integrated by a rule: differences
# of the normal distribution would lose digits there. Three nodes leave 1e-12 of the result.
_THIN = 0.05
_THIN_NODES, _THIN_WEIGHTS = np.polynomial.legendre.leggauss(3)
# Thin regions further out than this hold less than 1e-17.
_FAR = 9.0
# For a step of slope k beneath a Gaussian the trapezoidal rule needs steps of 0.7/sqrt(1 + k^2):
# as in a strip of this half-width over the same root.
_STEEPEST = 4.3
# Half-widths beyond which nothing is gained, or too many nodes would be needed.
_WIDEST, _NARROWEST = 4.0, 0.004
# Numbers held of each kind at once.
_ENTRIES = 1_000_000


class PredictionMoments(NamedTuple):
    """What is known of predictions given kappa, each of shape (S, N) for S points and N nodes.

    Attributes
    ----------
    V : Array
        Variance of a prediction under the removal of its sample.
    M, P, Q : Array
        Mean of omega, its covariance with z, and its variance.
    """

    V: Array
    M: Array
    P: Array
    Q: Array


class ChannelAverages(NamedTuple):
    """Averages given kappa, each of shape (S, N): E g, E z g, -E dg/domega and E g^2."""

    g: Array
    z_g: Array
    minus_dg: Array
    g_squared: Array


class LossAverages(NamedTuple):
    """Averages given kappa, each of shape (S, N).

    Attributes
    ----------
    training_error : Array
        Squared distance of label and prediction, on the training set.
    training_loss, test_loss : Array
        The test's against labels without noise.
    """

    training_error: Array
    training_loss: Array
    test_loss: Array


class OutputChannel(Protocol):
    """Averages over the output channel of one loss and one teacher, on nodes of kappa."""

    def averages(self, at: PredictionMoments) -> ChannelAverages:
        """Average g_out, its derivative and its square."""

    def losses(self, at: PredictionMoments) -> LossAverages:
        """Average the losses."""


def output_channel(
    loss: Loss, srf: SpikedFeatures, kappa: Array, fineness: int = 1
) -> OutputChannel:
    """Prepare averages.

    Parameters
    ----------
    loss : Loss
    srf : SpikedFeatures
        The teacher, and the label's noise.
    kappa : Array, shape (N,)
    fineness : int
        Multiplies the number of nodes.
    """
    if isinstance(loss, LogisticLoss):
        return LogisticChannel(loss, srf, kappa, fineness)
    return ClippedChannel(loss, srf, kappa, fineness)


class TeacherRule(NamedTuple):
    """Labels without noise, nodes and weights over z, given kappa: each of shape (N, Z)."""

    labels: Array
    z: Array
    weight: Array


def teacher_rule(srf: SpikedFeatures, kappa: Array, fineness: int = 1) -> TeacherRule:
    """Give a rule over z that splits at the kinks of the target of `gamma kappa + rho z`."""
    target, rho = lookup(srf.target), math.sqrt(1 - srf.alignment**2)
    along = srf.alignment * kappa[:, None]
    if rho == 0:
        z, weight = np.zeros_like(along), np.ones_like(along)
    else:
        z, weight = split_rule(unit_edges((np.array(target.kinks) - along) / rho), fineness)
    return TeacherRule(target.value(along + rho * z), z, weight)


class _ResidualMoments(NamedTuple):
    """Moments of a Gaussian gap u and of where it is clipped: to [low w, high w].

    Attributes
    ----------
    below, above : Array
        P(u < low w), P(u > high w).
    inside, first, second : Array
        E 1, E u/w and E (u/w)^2 between.
    short, beyond : Array
        E (low w - u)+ and E (u - high w)+.
    """

    below: Array
    above: Array
    inside: Array
    first: Array
    second: Array
    short: Array
    beyond: Array

    @classmethod
    def of(cls, loss: ClippedLoss, w: Array, mean: Array, std: Array) -> _ResidualMoments:
        a, b = loss.low * w, loss.high * w
        below, low_density, short = _tail((a - mean) / std, std)
        above, high_density, beyond = _tail((mean - b) / std, std)
        inside = 1 - below - above
        first = mean * inside - std * (high_density - low_density)
        second = (mean**2 + std**2) * inside
        for end, density in ((a, -low_density), (b, high_density)):
            second = second - std * np.where(np.isfinite(end), end + mean, 0) * density
        with np.errstate(divide="ignore", invalid="ignore"):  # w may vanish: thin then
            found = inside, first / w, second / w**2
        thin = np.broadcast_to(b - a < _THIN * std, inside.shape)
        if np.any(thin):
            for whole in found:
                whole[thin] = 0.0
            thin = thin & (np.abs(mean) < _FAR * std)
            ends = (np.broadcast_to(x, thin.shape)[thin] for x in (a, b, w, mean, std))
            for whole, part in zip(found, _thin(*ends), strict=True):
                whole[thin] = part
        return cls(below, above, *found, short, beyond)


def _tail(t: Array, std: Array) -> tuple[Array, Array, Array]:
    """Give P(z < t), its density at t, and E (t - z)+ times the standard deviation."""
    mass, density = ndtr(t), normal_density(t)
    return mass, density, std * (np.where(np.isfinite(t), t, 0) * mass + density)


def _thin(a: Array, b: Array, w: Array, mean: Array, std: Array) -> tuple[Array, Array, Array]:
    """Give the moments inside a thin interval."""
    u = (a + b)[:, None] / 2 + (b - a)[:, None] / 2 * _THIN_NODES
    weight = normal_density((u - mean[:, None]) / std[:, None]) * _THIN_WEIGHTS
    weight *= ((b - a) / std / 2)[:, None]
    x = u / w[:, None]
    return weight.sum(axis=1), (weight * x).sum(axis=1), (weight * x**2).sum(axis=1)


class ClippedChannel:
    """Averages for a loss whose pull is a clipped straight line: closed forms given z."""

    def __init__(self, loss: ClippedLoss, srf: SpikedFeatures, kappa: Array, fineness: int) -> None:
        self.loss, self.levels = loss, noise_levels(srf)
        self.labels, self.z, self.weight = teacher_rule(srf, kappa, fineness)

    def _residuals(self, at: PredictionMoments, noise: float) -> tuple[Array, Array]:
        """Give mean and standard deviation of the gap given z, shape (S, N, Z)."""
        prediction = at.M[..., None] + at.P[..., None] * self.z
        rest = (at.Q - at.P**2 + noise)[..., None]
        return self.loss.residual(self.labels, prediction), np.sqrt(rest)

    def averages(self, at: PredictionMoments) -> ChannelAverages:
        """Average g_out, its derivative and its square."""
        loss = self.loss
        w = (loss.inverse_curvature + at.V)[..., None]
        low, high = (0.0 if math.isinf(end) else end for end in (loss.low, loss.high))
        sign = self.labels * self.weight if loss.margin else self.weight
        total = [np.zeros(at.V.shape) for _ in ChannelAverages._fields]
        for noise, share in self.levels:
            gap = _ResidualMoments.of(loss, w, *self._residuals(at, noise))
            pull = low * gap.below + high * gap.above + gap.first
            square = low**2 * gap.below + high**2 * gap.above + gap.second
            total[0] += share * np.einsum("snz,nz->sn", pull, sign)
            total[1] += share * np.einsum("snz,nz->sn", pull, sign * self.z)
            total[2] += share * np.einsum("snz,nz->sn", gap.inside, self.weight) / w[..., 0]
            total[3] += share * np.einsum("snz,nz->sn", square, self.weight)
        return ChannelAverages(*total)

    def losses(self, at: PredictionMoments) -> LossAverages:
        """Average the losses."""
        return LossAverages(
            self._training_error(at),
            self._loss(at, at.V, self.levels),
            self._loss(at, np.zeros_like(at.V), ((0.0, 1.0),)),
        )

    def _training_error(self, at: PredictionMoments) -> Array:
        """Average `(u - V f)^2`: `E u^2 - 2 V E u f + V^2 E f^2`."""
        loss, V = self.loss, at.V[..., None]
        w = loss.inverse_curvature + V
        total = np.zeros(at.V.shape)
        for noise, share in self.levels:
            mean, std = self._residuals(at, noise)
            gap = _ResidualMoments.of(loss, w, mean, std)
            # Outside u - V f is u - high V, on either side; inside it is inverse_curvature u/w.
            error = loss.inverse_curvature**2 * gap.second
            for end, turned in ((loss.high, mean), (-loss.low, -mean)):
                if math.isfinite(end):
                    error = error + _square_beyond(end * w, end * V, turned, std)
            total += share * np.einsum("snz,nz->sn", error, self.weight)
        return total

    def _loss(
        self, at: PredictionMoments, V: Array, levels: tuple[tuple[float, float], ...]
    ) -> Array:
        """Average the loss at the proximal point, or (V = 0) at the prediction itself."""
        loss = self.loss
        w = (loss.inverse_curvature + V)[..., None]
        total = np.zeros(V.shape)
        for noise, share in levels:
            mean, std = self._residuals(at, noise)
            gap = _ResidualMoments.of(loss, np.maximum(w, 1e-300), mean, std)
            value = loss.inverse_curvature * gap.second / 2
            for end, tail, area in (
                (loss.low, gap.below, gap.short), (loss.high, gap.above, gap.beyond)
            ):  # fmt: skip
                if math.isfinite(end):
                    value = value + abs(end) * area + loss.inverse_curvature * end**2 * tail / 2
            total += share * np.einsum("snz,nz->sn", value, self.weight)
        return total


def _square_beyond(edge: Array, shift: Array, mean: Array, std: Array) -> Array:
    """Compute E (u - shift)^2 over u > edge."""
    t = (mean - edge) / std
    square: Array = ((mean - shift) ** 2 + std**2) * ndtr(t)
    square += std * (mean + edge - 2 * shift) * normal_density(t)
    return square


class _LabelPosterior(NamedTuple):
    """What is known at each omega, shapes (B, T).

    Attributes
    ----------
    omega, V : Array
    share : Array
        P(y = 1).
    above, mean_z : Array
        E z 1(y = 1), and E z.
    """

    omega: Array
    V: Array
    share: Array
    above: Array
    mean_z: Array

    def of_label(self, y: int) -> tuple[Array, Array]:
        """Give the probability of a label, and E z where it is."""
        return (self.share, self.above) if y > 0 else (1 - self.share, self.mean_z - self.above)


class LogisticChannel:
    """Averages for the logistic loss and labels of +1 and -1, by a rule over omega.

    Each pair of a point and a kappa takes the rule that its own variance and covariance need.
    """

    def __init__(
        self, loss: LogisticLoss, srf: SpikedFeatures, kappa: Array, fineness: int
    ) -> None:
        self.loss, self.fineness = loss, fineness
        rho = math.sqrt(1 - srf.alignment**2)
        with np.errstate(divide="ignore"):
            self.threshold = srf.alignment * kappa / rho  # y = 1 where z > -threshold

    def averages(self, at: PredictionMoments) -> ChannelAverages:
        """Average g_out, its derivative and its square."""
        return ChannelAverages(*self._averaged(at, self._averages, len(ChannelAverages._fields)))

    def losses(self, at: PredictionMoments) -> LossAverages:
        """Average the losses."""
        return LossAverages(*self._averaged(at, self._losses, len(LossAverages._fields)))

    def _averaged(
        self, at: PredictionMoments, values: Callable[[_LabelPosterior], list[Array]], count: int
    ) -> Array:
        """Average values at each point and kappa, shape (count, S, N); NaN where there are none.

        Those that rules for about the same strip serve are computed together.
        """
        flat = PredictionMoments(*(known.ravel() for known in at))
        threshold = np.broadcast_to(self.threshold, at.V.shape).ravel()
        with np.errstate(invalid="ignore", divide="ignore"):  # of points that are lost
            steepness = np.hypot(1, np.abs(flat.P) / np.sqrt(flat.Q - flat.P**2))
            strip = np.minimum(math.pi / np.sqrt(flat.Q), _STEEPEST / steepness)
            level = np.floor(np.log2(np.clip(strip, _NARROWEST, _WIDEST)))
        found = np.full((count, strip.size), np.nan)
        for exponent in np.unique(level[np.isfinite(level)]):
            t, weight = strip_rule(2.0**exponent / self.fineness)
            places = np.flatnonzero(level == exponent)
            for part in np.array_split(places, 1 + places.size * t.size // _ENTRIES):
                local = PredictionMoments(*(known[part, None] for known in flat))
                given = _label_posterior(local, threshold[part, None], t)
                found[:, part] = [value @ weight for value in values(given)]
        return found.reshape(count, *at.V.shape)

    def _averages(self, given: _LabelPosterior) -> list[Array]:
        total = [np.zeros_like(given.omega) for _ in ChannelAverages._fields]
        for y in (1, -1):
            share, with_z = given.of_label(y)
            p = self.loss.negative_derivative(self.loss.prox(y * given.omega, given.V))
            bend = p * (1 - p)
            slope = share * bend / (1 + given.V * bend)
            for value, term in zip(
                total, (share * y * p, with_z * y * p, slope, share * p**2), strict=True
            ):
                value += term
        return total

    def _losses(self, given: _LabelPosterior) -> list[Array]:
        total, one = [np.zeros_like(given.omega) for _ in LossAverages._fields], np.ones(())
        for y in (1, -1):
            share, _ = given.of_label(y)
            x = self.loss.prox(y * given.omega, given.V)
            terms = (1 - x) ** 2, self.loss.value(one, x), self.loss.value(one, y * given.omega)
            for value, term in zip(total, terms, strict=True):
                value += share * term
        return total


def _label_posterior(at: PredictionMoments, threshold: Array, t: Array) -> _LabelPosterior:
    """Give what is known at `omega = M + sqrt(Q) t`, where z is Gaussian."""
    root = np.sqrt(at.Q)
    mean, std = at.P / root * t, np.sqrt(1 - at.P**2 / at.Q)
    place = (threshold + mean) / std
    share = ndtr(place)
    above = mean * share + std * normal_density(place)
    V = np.broadcast_to(at.V, place.shape)
    return _LabelPosterior(at.M + root * t, V, share, above, mean)
