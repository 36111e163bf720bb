"""The output channel of square, Huber and hinge loss, whose g_out is a clipped straight line.

With the residual u of a prediction omega, `g_out = clip(u, low w, high w)/w` where
`w = inverse_curvature + V`: u is Gaussian given z, so that omega is integrated in closed form. The
rule over z splits at the teacher's kinks.
"""

from __future__ import annotations

from functools import cache, partial
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.clipped_gaussian import ClippedGaussian
from giantstep.numerics.linear_systems import TINY
from giantstep.numerics.quadrature import (
    CERTAIN,
    FARTHEST,
    normal_density,
)
from giantstep.numerics.scalar_functions import BINARY
from giantstep.problems.convex_losses import ClippedLoss
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_target import rule_across
from giantstep.theory.readout.output_channel import Averaged, OutputChannel, PredictionMoments

# Stands for the clips of a loss that has none, in standard deviations of u.
_NO_CLIP = 1e100
# Nodes of less weight under the joint law of kappa and z are left out.
_NEGLIGIBLE = 1e-18
# Widths of panels over z, and the widest that is allowed, in units of the scale on which the
# integrand varies. It is a Gaussian times a smooth step: twelve nodes are accurate to 1e-14.
_PANELS, _RESOLVED = (3.0, 2.0, 1.0), 3.3
# Entries of arrays computed at once, so that they stay in the processor's cache.
_ENTRIES = 32_000


class _Rule(NamedTuple):
    """Noiseless labels, nodes and weights over z given kappa, arrays of shape (N, Z)."""

    labels: Array
    z: Array
    weight: Array

    def at(self, nodes: slice) -> _Rule:
        """Select some of the nodes over kappa, from the first z that has weight to the last."""
        used = np.flatnonzero(self.weight[nodes].any(axis=0))
        columns = slice(used[0], used[-1] + 1) if used.size else slice(0)
        return _Rule(*(values[nodes, columns] for values in self))


def _rule_over_z(srf: SpikedFeatures, kappa: Array, fineness: float, panel: float) -> _Rule:
    """Choose a rule over z at each kappa; negligible weights are zero."""
    labels, (z,), weight = rule_across(srf, kappa, fineness, panel)
    kept = weight * normal_density(kappa)[:, None] > _NEGLIGIBLE
    return _Rule(*np.broadcast_arrays(labels, z, np.where(kept, weight, 0.0)))


class ClippedChannel(OutputChannel):
    """Averages for a loss whose g_out is a clipped straight line: closed forms given z."""

    def __init__(
        self, loss: ClippedLoss, srf: SpikedFeatures, kappa: Array, fineness: float
    ) -> None:
        super().__init__(srf)
        self.loss = loss
        # A small tail counts only where g_out vanishes beyond the other end.
        others = loss.high, -loss.low
        self._farthest = tuple(CERTAIN if end > 0 else FARTHEST for end in others)
        # Between its kinks a sign is constant: panels need only resolve the average over omega.
        self._panels = _PANELS if srf.target in BINARY else _PANELS[-1:]
        self._rule = cache(partial(_rule_over_z, srf, kappa, fineness))

    def average(self, of: Averaged, sign: int, at: PredictionMoments) -> Array:
        """Average at all points and nodes over kappa, some at a time."""
        panel, found = self._widest_panel(at), np.empty((4, *at.V.shape))
        for width in np.unique(panel):
            rule, points = self._rule(width), np.flatnonzero(panel == width)
            step = max(1, _ENTRIES // (points.size * rule.z.shape[1]))
            for start in range(0, len(rule.z), step):
                nodes = slice(start, start + step)
                here = PredictionMoments(*(moment[points, nodes] for moment in at))
                values = of(sign, here, rule.at(nodes))
                found[: len(values), points, nodes] = values
        return found

    def _widest_panel(self, at: PredictionMoments) -> Array:
        """Choose the panels that resolve the average over omega at each point, shape (S,)."""
        slope = np.max(np.abs(at.P) / np.sqrt(at.Q - at.P**2), axis=-1)
        resolved = np.multiply.outer(self._panels, np.hypot(1, slope)) < _RESOLVED
        resolved[-1] = True  # there are no narrower ones
        return np.asarray(self._panels)[resolved.argmax(axis=0)]

    def _clip(
        self, sign: int, at: PredictionMoments, rule: _Rule, w: Array
    ) -> tuple[Array, ClippedGaussian]:
        """Clip the residual given z, shape (S, N, Z), in units of its standard deviation (S, N)."""
        std = np.sqrt(at.Q - at.P**2)
        unit = std[..., None]
        prediction = at.M[..., None] + at.P[..., None] * rule.z
        mean = self.loss.residual(sign * rule.labels, prediction) / unit
        low, high = (
            np.clip(end * w[..., None] / unit, -_NO_CLIP, _NO_CLIP)
            for end in (self.loss.low, self.loss.high)
        )
        return std, ClippedGaussian.of(low, high, mean, self._farthest)

    def responses(self, sign: int, at: PredictionMoments, rule: _Rule) -> tuple[Array, ...]:
        """Return averages of g_out, its derivative and its square."""
        w = self.loss.inverse_curvature + at.V
        std, clipped = self._clip(sign, at, rule, w)
        weight = sign * rule.labels * rule.weight if self.loss.margin else rule.weight
        return (
            std / w * _over_z(clipped.mean, weight),
            std / w * _over_z(clipped.mean, weight * rule.z),
            _over_z(clipped.inside, rule.weight) / w,
            (std / w) ** 2 * _over_z(clipped.square, rule.weight),
        )

    def errors(self, sign: int, at: PredictionMoments, rule: _Rule) -> tuple[Array, Array]:
        """Return averages of `(u - V g)^2` and of the loss at the proximal point.

        Beyond the clips, at a distance t, `u - V g` is `inverse_curvature g + t`. The loss is
        `inverse_curvature g^2/2 + |g| t`.
        """
        inverse_curvature = self.loss.inverse_curvature
        w = np.maximum(inverse_curvature + at.V, TINY)
        std, clipped = self._clip(sign, at, rule, w)
        # Not (std/w)^2, which overflows as w vanishes.
        square = _over_z(clipped.square, rule.weight) * (inverse_curvature / w / w) * std**2
        error, value = inverse_curvature * square, square / 2
        for end, tail in ((-self.loss.low, clipped.below), (self.loss.high, clipped.above)):
            if np.isfinite(end):
                linear = end * std * _over_z(tail.first, rule.weight)
                error += std**2 * _over_z(tail.second, rule.weight) + 2 * inverse_curvature * linear
                value += linear
        return error, value


def _over_z(values: Array, weight: Array) -> Array:
    """Sum values of shape (S, N, Z) against a weight over z, shape (N, Z)."""
    return np.einsum("snz,nz->sn", values, weight)
