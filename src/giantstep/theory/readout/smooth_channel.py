"""The output channel of analytic losses, by trapezoidal rules over the residual.

The proximal operator of a `SmoothLoss` is analytic in a strip about the real line, whatever V, and
so is the density of residuals: the trapezoidal rule over them converges exponentially. Averages
need this density, and the mean of the teacher's z given a residual. Both are closed forms for
labels of +1 and -1; other labels need a rule over z.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, Indices
from giantstep.numerics.quadrature import (
    BOUNDED_RANGE,
    normal_density,
    normal_distribution,
    strip_rule,
    strip_step,
)
from giantstep.problems.convex_losses import SmoothLoss
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_target import rule_across, sign_threshold
from giantstep.theory.readout.output_channel import Averaged, OutputChannel, PredictionMoments

# The label's probability is a smooth step in omega. For a slope k, in units of the standard
# deviation, the trapezoidal rule needs steps of 0.7/sqrt(1 + k^2): those of a strip of this
# half-width over the same root.
_STEEPEST = 4.3
# Panels over z, on which labels are averaged over a Gaussian.
_PANEL = 3.0
# Narrower strips, in units of a standard deviation, would need too many nodes.
_NARROWEST = 0.004
# A rule over all residuals may have so many times as many nodes as one given z. Where residuals
# vary even more, there is a rule for each z.
_MOST_NODES = 10
# Widths are rounded to powers of this, so that a node's rule depends on no other node and rarely
# changes: a change would add its error to finite differences of averages.
_RATIO = 1.25
# Above the number of such powers.
_MOST_POWERS = 10_000


class _Residuals(NamedTuple):
    """Rules over residuals at N nodes over kappa, arrays of shape (N, T).

    Attributes
    ----------
    sign : int
        How omega falls as the residual grows: 1, or the label for losses of margins.
    u, weight : Array
        Nodes, and the density times the step.
    z : Array
        E z given the residual, times the same.
    """

    sign: int
    u: Array
    weight: Array
    z: Array


class SmoothChannel(OutputChannel):
    """Averages for a smooth loss.

    Parameters
    ----------
    loss : SmoothLoss
    srf, kappa, fineness
        As in `convex_equations.output_channel`.

    Attributes
    ----------
    at_once : int
        Nodes over kappa computed together, so that arrays stay in the processor's cache.
    """

    at_once: int

    def __init__(
        self, loss: SmoothLoss, srf: SpikedFeatures, kappa: Array, fineness: float
    ) -> None:
        super().__init__(srf)
        self.loss, self.fineness = loss, fineness
        self.prepare(srf, kappa)

    @abstractmethod
    def prepare(self, srf: SpikedFeatures, kappa: Array) -> None:
        """Prepare what rules have of the teacher."""

    def responses(self, sign: int, at: PredictionMoments, rule: _Residuals) -> tuple[Array, ...]:
        """Return averages of g_out, its derivative and its square."""
        falls, u, weight, z = rule
        g, slope = self.loss.response(u, at.V)
        parts = (g, weight), (g, z), (slope, weight), (g * g, weight)
        g_out, z_g, *rest = (np.einsum("nt,nt->n", *part) for part in parts)
        return falls * g_out, falls * z_g, *rest

    def errors(self, sign: int, at: PredictionMoments, rule: _Residuals) -> tuple[Array, ...]:
        """Return averages of the squared residual and the loss at the proximal point."""
        fitted = self.loss.prox(rule.u, at.V) if at.V.any() else rule.u
        values = fitted**2, self.loss.of(fitted)
        return tuple(np.einsum("nt,nt->n", each, rule.weight) for each in values)

    def average(self, of: Averaged, sign: int, at: PredictionMoments) -> Array:
        """Average at all points and nodes over kappa, those of the same rule together.

        NaN where there is no law or no rule.
        """
        at = PredictionMoments(*(moment.T for moment in at))  # so that neighbours have like V
        known = (at.V >= 0) & (at.Q > at.P**2) & (self.strip(at) > _NARROWEST)
        found, rows = np.tile(np.where(known, 0.0, np.nan).ravel(), (4, 1)), np.flatnonzero(known)
        points = at.V.shape[1]
        law = PredictionMoments(*(moment.ravel()[rows, None] for moment in at))
        # Beyond the widest strip rules are the same.
        strip = np.minimum(self.strip(law), _STEEPEST * math.sqrt(self.fineness))
        sizes = np.hstack([1 / strip, self.reach(law, rows // points, sign)])
        powers = np.ceil(np.log(sizes) / math.log(_RATIO)).astype(int)
        # Both powers in one number: numpy is slower to find the different rows of an array.
        kinds, kind = np.unique(powers @ [_MOST_POWERS, 1], return_inverse=True)
        for k in range(kinds.size):
            same = np.flatnonzero(kind == k)
            narrowness, reach = _RATIO ** powers[same[0]].astype(float)
            for start in range(0, same.size, self.at_once):
                some = same[start : start + self.at_once]
                part, here = rows[some], PredictionMoments(*(x[some] for x in law))
                for rule in self.residuals(here, part // points, sign, 1 / narrowness, reach):
                    for sums, values in zip(found, of(sign, here, rule), strict=False):
                        sums[part] += values
        return found.reshape(4, *at.V.shape).swapaxes(1, 2)

    @abstractmethod
    def strip(self, at: PredictionMoments) -> Array:
        """Compute the half-width of the strip of analyticity, in units of omega's spread."""

    def reach(self, at: PredictionMoments, nodes: Indices, sign: int) -> Array:
        """Compute how far nodes of rules are from the middle, in the same units, shape (N, 1)."""
        return np.full((len(nodes), 1), BOUNDED_RANGE)

    @abstractmethod
    def residuals(
        self, at: PredictionMoments, nodes: Indices, sign: int, strip: float, reach: float
    ) -> Iterator[_Residuals]:
        """Make rules for some nodes over kappa, given moments of shape (N, 1).

        Labels have the target's sign, or the other. All have one strip and reach.
        """


class BinaryChannel(SmoothChannel):
    """Averages for targets of +1 and -1, whose probability given omega is a smooth step."""

    at_once = 600

    def prepare(self, srf: SpikedFeatures, kappa: Array) -> None:
        """Prepare the least z of positive labels."""
        self.threshold = sign_threshold(srf, kappa)[:, None]

    def strip(self, at: PredictionMoments) -> Array:
        """Compute the half-width of the strip of analyticity, in units of omega's spread."""
        return np.minimum(self.loss.strip / np.sqrt(at.Q), _STEEPEST * np.sqrt(1 - at.P**2 / at.Q))

    def residuals(
        self, at: PredictionMoments, nodes: Indices, sign: int, strip: float, reach: float
    ) -> Iterator[_Residuals]:
        """Make rules for both signs of the target."""
        std, across = np.sqrt(at.Q), np.sqrt(1 - at.P**2 / at.Q)
        t, weight = strip_rule(strip, self.fineness)
        mean, omega = at.P / std * t, at.M + std * t
        share, density = normal_distribution((self.threshold[nodes] + mean) / across)
        # Half of what positive targets have more of than negative ones, and the same of E z.
        difference = weight * (share - 1 / 2)
        tilt = mean * difference + across * (weight * density)
        for y in (1, -1):
            u = self.loss.residual(np.array(y), omega)
            half, side, falls = weight / 2, sign * y, y if self.loss.margin else 1
            yield _Residuals(falls, u, half + side * difference, half * mean + side * tilt)


class RealChannel(SmoothChannel):
    """Averages of smooth losses for any labels: given the teacher's z, residuals are Gaussian."""

    at_once = 16

    def prepare(self, srf: SpikedFeatures, kappa: Array) -> None:
        """Prepare a rule over z."""
        labels, (z,), weight = rule_across(srf, kappa, self.fineness, _PANEL)
        self.labels, self.z, self.weight = np.broadcast_arrays(labels, z, weight)

    def strip(self, at: PredictionMoments) -> Array:
        """Compute the half-width of the strip of analyticity, in units of omega's spread."""
        return self.loss.strip / np.sqrt(at.Q - at.P**2)

    def reach(self, at: PredictionMoments, nodes: Indices, sign: int) -> Array:
        """Compute how far nodes of rules over all residuals are from the middle."""
        farthest = np.ptp(self._centre(at, nodes, sign), axis=1, keepdims=True)
        return farthest / 2 / np.sqrt(at.Q - at.P**2) + BOUNDED_RANGE

    def residuals(
        self, at: PredictionMoments, nodes: Indices, sign: int, strip: float, reach: float
    ) -> Iterator[_Residuals]:
        """Make one rule over residuals, or one for each z."""
        z, std = self.z[nodes], np.sqrt(at.Q - at.P**2)
        t, of_t = strip_rule(strip, self.fineness)
        step = strip_step(np.array(strip), self.fineness)
        count = math.ceil(reach / step)
        centre, weight = self._centre(at, nodes, sign), self.weight[nodes]
        if 2 * count > _MOST_NODES * t.size:
            u = (centre[:, :, None] + std[:, None] * t).reshape(len(z), -1)
            density = (weight[:, :, None] * of_t).reshape(u.shape)
            yield _Residuals(1, u, density, density * np.repeat(z, t.size, axis=-1))
            return
        middle = (centre.min(axis=1, keepdims=True) + centre.max(axis=1, keepdims=True)) / 2
        u = middle + std * step * np.arange(-count, count + 1)
        given_z = step * normal_density((u[:, :, None] - centre[:, None]) / std[:, None])
        sums = np.matmul(given_z, np.stack([weight, weight * z], axis=-1))
        yield _Residuals(1, u, *np.moveaxis(sums, -1, 0))

    def _centre(self, at: PredictionMoments, nodes: Indices, sign: int) -> Array:
        """Compute the mean residual at each z, shape (N, Z)."""
        return sign * self.labels[nodes] - at.M - at.P * self.z[nodes]
