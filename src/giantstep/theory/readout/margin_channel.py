"""The output channel of smooth losses of margins, such as the logistic loss.

Given omega, the teacher's z is Gaussian, and so is integrated in closed form: it fixes the
probability of the label. Over omega the proximal operator is analytic in a strip about the real
line, whatever V, so that the trapezoidal rule converges exponentially.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from giantstep.arrays import Array
from giantstep.numerics.quadrature import normal_density, strip_rule
from giantstep.numerics.scalar_functions import CLASS
from giantstep.problems.inputs import mixture_mean
from giantstep.problems.losses import MarginLoss
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.readout.channel_averages import (
    Averages,
    ChannelAverages,
    LossAverages,
    PredictionMoments,
)

# The label's probability is a smooth step in omega. For a slope k, in units of the standard
# deviation, the trapezoidal rule needs steps of 0.7/sqrt(1 + k^2): those of a strip of this
# half-width over the same root.
_STEEPEST = 4.3
# Wider strips gain nothing; narrower ones would need too many nodes.
_WIDEST, _NARROWEST = 4.0, 0.004
# Entries of arrays computed at once, so that they stay in the processor's cache.
_ENTRIES = 16_000


class _Label(NamedTuple):
    """A label and the teacher's z given omega, arrays of shape (B, T).

    Attributes
    ----------
    y : int
    omega : Array
    V : Array, shape (B, 1)
    clean, probability : Array
        The probability of the label, without those that are reversed and with them.
    z : Array
        E z on that event.
    """

    y: int
    omega: Array
    V: Array
    clean: Array
    probability: Array
    z: Array


def _labels(at: PredictionMoments, threshold: Array, t: Array, flips: float) -> list[_Label]:
    """Condition both labels on `omega = M + sqrt(Q) t`."""
    root = np.sqrt(at.Q)
    mean, std = at.P / root * t, np.sqrt(1 - at.P**2 / at.Q)
    place = (threshold + mean) / std
    p = ndtr(place)
    z = mean * p + std * normal_density(place)
    omega, reversed_p, reversed_z = at.M + root * t, 1 - p, mean - z
    return [
        _Label(y, omega, at.V, own, own + flips * (other - own), of_z + flips * (other_z - of_z))
        for y, own, other, of_z, other_z in (
            (1, p, reversed_p, z, reversed_z), (-1, reversed_p, p, reversed_z, z)
        )
    ]  # fmt: skip


class MarginChannel:
    """Averages for a smooth loss and labels of +1 and -1, by a rule over omega.

    The rule depends on the variance of omega and its covariance with z, and so on the point and
    on kappa.
    """

    def __init__(
        self, loss: MarginLoss, srf: SpikedFeatures, kappa: Array, fineness: float
    ) -> None:
        self.loss, self.fineness, self.flips = loss, fineness, srf.label_flips
        rho = math.sqrt(1 - srf.first_alignment**2)
        with np.errstate(divide="ignore"):
            mean = mixture_mean(srf.inputs) or 0.0
            # y = 1 where z > -threshold
            self.threshold = (mean + srf.first_alignment * kappa) / rho
        if srf.target == CLASS:  # one for inputs of class +1
            self.threshold = np.full_like(kappa, np.inf)

    def averages(self, at: PredictionMoments) -> ChannelAverages:
        """Average g_out, its derivative and its square."""
        return self._integrate(at, self._channel_values, ChannelAverages)

    def losses(self, at: PredictionMoments) -> LossAverages:
        """Average errors and losses."""
        return self._integrate(at, self._loss_values, LossAverages)

    def _integrate(
        self, at: PredictionMoments, values: Callable[[_Label], Averages], kind: type[Averages]
    ) -> Averages:
        """Integrate values over omega and both labels, shapes (S, N); NaN without moments.

        Points and nodes whose strips are alike share a rule, and are computed together.
        """
        flat = PredictionMoments(*(moment.ravel() for moment in at))
        threshold = np.broadcast_to(self.threshold, at.V.shape).ravel()
        with np.errstate(invalid="ignore", divide="ignore"):  # at points that have diverged
            steepness = np.hypot(1, np.abs(flat.P) / np.sqrt(flat.Q - flat.P**2))
            strip = np.minimum(self.loss.strip / np.sqrt(flat.Q), _STEEPEST / steepness)
            level = np.floor(np.log2(np.clip(strip, _NARROWEST, _WIDEST)))
        integrals = np.full((len(kind._fields), strip.size), np.nan)
        for exponent in np.unique(level[np.isfinite(level)]):
            t, weight = strip_rule(2.0**exponent / self.fineness)
            places = np.flatnonzero(level == exponent)
            # Proximal operators that are found together take as many steps if V is alike.
            places = places[np.argsort(flat.V[places])]
            for part in np.array_split(places, 1 + places.size * t.size // _ENTRIES):
                moments = PredictionMoments(*(moment[part, None] for moment in flat))
                labels = _labels(moments, threshold[part, None], t, self.flips)
                both = zip(*map(values, labels), strict=True)
                integrals[:, part] = [(one + other) @ weight for one, other in both]
        return kind(*integrals.reshape(-1, *at.V.shape))

    def _channel_values(self, label: _Label) -> ChannelAverages:
        """Compute what is averaged for the channel, times the probability of the label."""
        fitted = self.loss.prox(label.y * label.omega, label.V)
        g, curvature = self.loss.derivatives(fitted)  # g along y
        p, along = label.probability, label.y * g
        minus_dg = p * curvature / (1 + label.V * curvature)
        return ChannelAverages(p * along, label.z * along, minus_dg, p * g**2)

    def _loss_values(self, label: _Label) -> LossAverages:
        """Compute errors and losses, times the probability of the label."""
        margin = label.y * label.omega
        fitted = self.loss.prox(margin, label.V)
        return LossAverages(
            label.probability * (1 - fitted) ** 2,
            label.probability * self.loss.of_margin(fitted),
            label.clean * self.loss.of_margin(margin),
        )
