"""The equations for any convex loss: theory.md section 6.

The unknowns at each point are the order parameters that determine the law of a prediction given
kappa: V1 and V2; the coefficients of its mean M(kappa) and of its slope P(kappa) in z; q1 and q2.
They determine the averages over the output channel, and these the hats, equation (119). The bulk
maps the hats back to the order parameters, as for the square loss: (19) and (20).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.linear_systems import TINY, multiply
from giantstep.numerics.newton import Iterates
from giantstep.numerics.scalar_functions import BINARY
from giantstep.problems.convex_losses import ClippedLoss, Loss
from giantstep.problems.problem import label_agreement, noise_power
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.targets import target_function
from giantstep.theory.readout.clipped_channel import ClippedChannel
from giantstep.theory.readout.means import overlap_response
from giantstep.theory.readout.output_channel import (
    ChannelAverages,
    OutputChannel,
    PredictionMoments,
)
from giantstep.theory.readout.smooth_channel import BinaryChannel, RealChannel
from giantstep.theory.readout.square_loss import SquareLoss
from giantstep.theory.reliability import Fluctuation
from giantstep.theory.rows.interface import Hats

# Nodes over kappa with less weight are left out.
_NEGLIGIBLE = 1e-18
# Least mu2^2, where an activation is flat to rounding, so that no variance vanishes.
_FLAT = 1e-30


def output_channel(
    loss: Loss, srf: SpikedFeatures, kappa: Array, fineness: float = 1
) -> OutputChannel:
    """Prepare the averages over the output channel of a loss.

    Parameters
    ----------
    loss : Loss
    srf : SpikedFeatures
        The problem, which has the teacher and the label noise.
    kappa : Array, shape (N,)
    fineness : float
        Multiplies the number of nodes over z or omega.
    """
    if isinstance(loss, ClippedLoss):
        return ClippedChannel(loss, srf, kappa, fineness)
    kind = BinaryChannel if srf.target in BINARY else RealChannel
    return kind(loss, srf, kappa, fineness)


class ConvexEquations:
    """The map of the unknowns to themselves, on one quadrature rule.

    Parameters
    ----------
    square_loss : SquareLoss
        The same problem for the square loss.
    loss : Loss
    to_m : Array, shape (G, rank)
        Combinations of the mu0 that enter M. All rules must share them, so that the same numbers
        have the same meaning on all.
    fineness : float
        Multiplies the number of nodes over z or omega.
    """

    def __init__(self, square_loss: SquareLoss, loss: Loss, to_m: Array, fineness: float) -> None:
        f, self.srf = square_loss.features, square_loss.srf
        self.loss = loss
        self.square_loss, self.equations, self.to_m = square_loss, square_loss.equations, to_m
        self.beta, self.rank = self.srf.beta, to_m.shape[1]
        # With an odd teacher, odd features and a symmetric loss every integrand is even in kappa.
        target = target_function(self.srf.target, self.srf.inputs)
        halved = f.mirrored and target.parity == "odd" and loss.is_symmetric()
        f = self.features = replace(f.at(np.flatnonzero(f.weight > _NEGLIGIBLE)), mirrored=halved)
        self.weight, self.phi = f.fold(np.ones(f.kappa.size)), f.half(f.phi)
        self.functions = f.half(np.concatenate([to_m.T @ f.mu0, f.along]))
        self.h, self.h_z, self.residual = map(f.half, (f.h, f.h_z[0], f.target_residual))
        none = np.zeros((self.rank, f.kappa.size))
        self.mean_spread = f.half(none if f.mean_spread is None else f.mean_spread)
        i, j = self.equations.triangle.rows, self.equations.triangle.columns
        mu2_squared = np.maximum(f.half(f.mu2_squared), _FLAT)
        self.row_norm = f.half(np.broadcast_to(f.row_norm, f.kappa.shape))
        self.products = np.concatenate([self.phi[i] * self.phi[j], mu2_squared]) * self.row_norm
        self.channel = output_channel(loss, self.srf, f.half(f.kappa), fineness)
        parts = self.products, self.functions, self.phi, self.products
        self.ends = np.cumsum([len(part) for part in parts])
        self.label_deviation = math.sqrt(self.weight @ (self.h**2 + self.h_z**2 + self.residual))
        sizes = np.sqrt(np.concatenate([self.functions, self.phi]) ** 2 @ self.weight)
        self.typical_size = self.label_deviation / np.maximum(sizes, TINY)  # of coefficients

    def order_parameters(self, x: Array) -> list[Array]:
        """Split the unknowns, shape (S, D).

        They are V = (V1, V2); the coefficients of the mean prediction M(kappa), and those of its
        slope P(kappa) in z; and q = (q1, q2).
        """
        return np.split(x, self.ends[:-1], axis=-1)

    def unknowns(self, other: ConvexEquations, x: Array) -> Array:
        """Express unknowns of the same problem at another dimension, which has other `to_m`."""
        V, prediction, slope, q = other.order_parameters(x)
        m = prediction[:, : other.rank] @ other.to_m.T @ np.linalg.pinv(self.to_m).T
        return np.concatenate([V, m, prediction[:, other.rank :], slope, q], axis=-1)

    def prediction_moments(self, x: Array) -> PredictionMoments:
        """Compute the moments of a prediction at each kappa, from the unknowns."""
        V, prediction, slope, q = self.order_parameters(x)
        V, q = (each * self.equations.multiplicity @ self.products for each in (V, q))
        P, spread = slope @ self.phi, prediction[:, : self.rank] @ self.mean_spread
        # The norm of the features changes what is left of a prediction's variance given z.
        Q = q + spread**2 + (1 - self.row_norm) * P**2
        return PredictionMoments(V, prediction @ self.functions, P, Q)

    def averages_near(
        self, at: Iterates[ChannelAverages], x: Array, step: float
    ) -> ChannelAverages:
        """Compute the channel averages at D unknowns near each of S, (S D, D), to first order.

        By differences along the four moments of predictions, of which there are more unknowns.
        """
        (V, M, P, Q), near = self.prediction_moments(at.x), self.prediction_moments(x)
        here, label = np.stack([V, M, P, Q - P**2]), np.full_like(V, self.label_deviation)
        scale = np.stack([V, label, np.sqrt(here[3]), here[3]])
        moved = here[:, None] + step * np.eye(4)[:, :, None, None] * scale[:, None]
        law = PredictionMoments(*moved.reshape(4, -1, V.shape[1]))
        averages = self.channel.averages(law._replace(Q=law.Q + law.P**2))
        before = np.stack(at.details)
        slopes = (np.reshape(averages, moved.shape) - before[:, None]) / step
        change = np.stack([*near[:3], near.Q - near.P**2]).reshape(4, len(V), -1, V.shape[1])
        change = (change - here[:, :, None]) / scale[:, :, None]
        found = before[:, :, None] + np.einsum("amsn,msdn->asdn", slopes, change)
        return ChannelAverages(*found.reshape(4, -1, V.shape[1]))

    def evaluate(
        self, x: Array, averages: ChannelAverages, alpha: Array, ridge: Array
    ) -> tuple[Array, Callable[[], dict[str, Array]]]:
        """Apply the map to the unknowns, given the channel averages at them: equation (119).

        Also returns a function that computes the overlaps of each group of neurons, and of each
        pair of groups.
        """
        _, prediction, slope, q = self.order_parameters(x)
        ratio = (alpha / self.beta)[:, None]
        g, z_g, minus_dg, g_squared = (values * self.weight for values in averages)
        V_hat, q_hat = (ratio * (each @ self.products.T) for each in (minus_dg, g_squared))
        split, Z = self.equations.triangle.size, len(self.functions) - self.rank
        V1_hat = self.equations.triangle.unpack(V_hat[:, :split])
        V, T = self.equations.bulk.variances(V1_hat, ridge[:, None] + V_hat[:, split:])
        response = self.equations.bulk.spike_response(V1_hat, V)
        mean_g = g @ self.functions.T
        # With V1_hat psi, but without `row_norm`: z acts on the mean of the features.
        slope_g = (z_g + minus_dg * (slope @ self.phi)) @ self.phi.T
        hats = ratio * np.concatenate([mean_g[:, self.rank :], slope_g], axis=-1)
        (K, to_hats), penalty = overlap_response(response, Z), self.square_loss.penalty
        known = Hats(hats @ to_hats, prediction[:, : self.rank] @ self.to_m.T)
        first, second = penalty.sources(response, response, known, known)
        direction = q_hat + first
        stiffness = self.to_m.T @ (penalty.matrix(response) / ratio[:, :, None]) @ self.to_m
        free = self._nearer(prediction, mean_g, minus_dg, g_squared, stiffness)
        mapped = [V, free, multiply(K, hats), multiply(T, direction) + second]
        overlaps_of = partial(penalty.overlaps, response, direction, q, known)
        return np.concatenate(mapped, axis=-1), overlaps_of

    def _nearer(
        self, prediction: Array, mean_g: Array, minus_dg: Array, g_squared: Array, stiffness: Array
    ) -> Array:
        """Move the coefficients of the mu0 towards those at which E[mu0 g] = stiffness m.

        The step is Newton's, with a bound on the slope of the difference of the two.
        """
        spread = self.mean_spread[:, None] * self.mean_spread
        stiffness = stiffness + np.einsum("sn,ghn->sgh", minus_dg, spread)
        free = prediction[:, : self.rank]
        gap = mean_g[:, : self.rank] - multiply(stiffness, free)
        slopes = minus_dg @ (self.functions[: self.rank] ** 2).T
        slope = np.max(slopes, axis=-1, initial=0.0)
        slope += np.max(np.abs(stiffness), axis=(1, 2), initial=0.0)
        # Where most g are at an end of their range.
        slope += np.sqrt(g_squared.sum(axis=-1)) / self.label_deviation + TINY
        return free + gap / slope[:, None]

    def coordinates(self, x: Array) -> Array:
        """Compute Newton's coordinates: logarithms of variances, means over their typical size."""
        (V, means, q), to = self._parts(x), self.equations.coordinates.of
        return np.concatenate([to(V), means / self.typical_size, to(q)], axis=-1)

    def move(self, x: Array, step: Array) -> Array:
        """Move the unknowns by a step in the coordinates."""
        pairs, by = zip(self._parts(x), self._parts(step), strict=True), self.equations.coordinates
        (V, dV), (means, change), (q, dq) = pairs
        moved = by.move(V, dV), means + change * self.typical_size, by.move(q, dq)
        return np.concatenate(moved, axis=-1)

    def _parts(self, x: Array) -> list[Array]:
        """Split the unknowns into variances, means and variances."""
        return np.split(x, [len(self.products), x.shape[1] - len(self.products)], axis=-1)

    def errors(self, x: Array) -> tuple[Array, Array]:
        """Compute the test error, equation (25), and that on labels as they are, each (S,)."""
        moments = self.prediction_moments(x)
        beyond = self.residual + self.h_z**2 - 2 * moments.P * self.h_z
        fresh = ((self.h - moments.M) ** 2 + beyond + moments.Q) @ self.weight
        product = (self.h * moments.M + self.h_z * moments.P) @ self.weight
        reversed_labels = 2 * (1 / label_agreement(self.srf) - 1) * product
        return fresh - noise_power(self.srf) - reversed_labels, fresh

    def fluctuation(self, at: Iterates[ChannelAverages], alpha: Array) -> Fluctuation:
        """Return the inputs of the corrections of `reliability` at S points."""
        V2 = self.order_parameters(at.x)[0][:, self.equations.triangle.size :]
        g_squared = at.details.g_squared * self.weight
        return Fluctuation(alpha, V2, at.details.minus_dg, g_squared)
