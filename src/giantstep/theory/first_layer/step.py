"""A gradient step on a fresh batch: theory.md section 13, docs/theory/larger-rank-spikes.md.

Neurons of one letter omega of the initial readout share a spike after each step. Old batches matter
through the state alone: the spikes, the norms of rows, the mean rows, and S, the covariance of bulk
rows along the directions on which inputs are projected.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.linalg import block_diag

from giantstep.arrays import Array
from giantstep.numerics.linear_systems import gram_factor
from giantstep.problems.protocol import Protocol
from giantstep.problems.several_spikes import spike_coordinates
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_target import ALIGNED
from giantstep.theory.first_layer.network_state import check_weights, spiked_features

# A spike of this size, at a rate of one, is rounding.
_NO_SPIKE = 1e-13


@dataclass(frozen=True, eq=False)
class LettersState:
    """A network of G letters after some steps, in coordinates on m directions.

    Attributes
    ----------
    spikes : Array, shape (G, m)
        The spike U_g of each letter; the target's is the first.
    bulk_variance : Array, shape (G,)
        c of each letter.
    mean_rows : Array, shape (G, G)
        X: p times the overlaps of the letters' mean bulk rows, times the root of both fractions.
        The bulk variances are its diagonal if rows are independent.
    covariance : Array, shape (G, m, m)
        S: d times the covariance of a letter's bulk rows in these directions. For one letter there
        is one more row and column, that of |b|^2/c - 1.
    """

    spikes: Array
    bulk_variance: Array
    mean_rows: Array
    covariance: Array

    @classmethod
    @lru_cache(maxsize=32)  # one object for all, so that caches find its steps
    def at_initialisation(cls, letters: int, targets: int = 1) -> LettersState:
        """Describe a network before its first step, on a target of some directions."""
        rows = np.stack([np.eye(targets)] * letters)
        return cls(np.zeros((letters, targets)), np.ones(letters), np.eye(letters), rows)

    @property
    def gram(self) -> Array:
        """Overlaps of the spikes, shape (G, G)."""
        return self.spikes @ self.spikes.T

    def in_readout_basis(self) -> tuple[float, Array, Array]:
        """Compute alignment and `spike_coordinates`, and S along these directions.

        The last direction of S is that of the target's part across the spikes.
        """
        alignment, u = spike_coordinates(self.spikes[:, 0], self.gram)
        basis = np.linalg.pinv(u) @ self.spikes
        across = np.eye(basis.shape[1])[0] - basis[:, 0] @ basis
        size = np.linalg.norm(across)
        basis = np.vstack([basis, across / size if size > ALIGNED else 0 * across])
        return min(alignment, 1.0), u, basis @ self.covariance @ basis.T

    def features(self, protocol: Protocol) -> SpikedFeatures:
        """Return the equivalent features."""
        alignment, u, _ = self.in_readout_basis()
        return spiked_features(protocol, self.bulk_variance, u, alignment)


@dataclass(eq=False)
class Step:
    """One more step: averages over the samples of a fresh batch, and what follows from them.

    Attributes
    ----------
    protocol : Protocol
        The protocol of this step alone.
    before : LettersState
    averages : Array, shape (6, G, N)
        Over the neurons of each letter, at the N samples of a rule: the `of_letters` of
        `ActivationAverages`.
    rho, curvature : Array, shape (N,)
        Minus the first derivative of the loss of the step by the network's output, and the second:
        see `step_loss`. For the square loss rho is the residual.
    weight : Array, shape (N,)
    y : Array, shape (m, N)
        The inputs' projections on the directions of the state.
    targets : int
        Number of the target's directions, which are the first of those of the state.
    rate, inverse_alpha0 : float
        e = learning_rate/beta, and 1/alpha0.
    rates : Array, shape (G,)
        The rate of each letter, e omega.
    """

    protocol: Protocol
    before: LettersState
    averages: Array
    rho: Array
    curvature: Array
    weight: Array
    y: Array
    targets: int = 1

    def __post_init__(self) -> None:
        of_samples = self.rho, self.curvature, self.weight
        self.rho, self.curvature, self.weight = (values.ravel() for values in of_samples)
        self.rate = self.protocol.learning_rate / self.protocol.beta
        self.inverse_alpha0 = 1 / self.protocol.alpha0
        self.rates = self.rate * np.array(self.protocol.readout)[:, 0]

    @cached_property
    def spikes_in_batch(self) -> Array:
        """R: the spikes' parts along the batch's own directions, over e omega, (G, B)."""
        gradient = self.rho * self.averages[1]
        return gram_factor(self.inverse_alpha0 * (gradient * self.weight) @ gradient.T, least=1)

    @cached_property
    def x(self) -> Array:
        """The projections y and, along the batch's own directions, rho N, (m + B, N)."""
        in_batch = self.inverse_alpha0 * np.linalg.pinv(self.spikes_in_batch) @ self.averages[1]
        return np.vstack([self.y, self.rho * in_batch])

    def along(self, values: Array) -> Array:
        """Average values, shape (..., N), times x: (..., m + B)."""
        return (values * self.weight) @ self.x.T

    def pairs(self, values: Array) -> Array:
        """Average values, shape (G, N), times x x^T, with the inputs' own noise along the batch."""
        pairs, batch = self.along(values[:, None] * self.x), np.arange(len(self.y), len(self.x))
        pairs[:, batch, batch] += (values @ self.weight)[:, None]
        return pairs

    @cached_property
    def spikes(self) -> Array:
        """The spikes (8) after the step, in the directions before it and those of the batch.

        After the first step of an odd activation their length and alignment are (10) and (9).
        """
        before = np.pad(self.before.spikes, ((0, 0), (0, len(self.x) - len(self.y))))
        moved = self.along(self.rho * self.averages[1])
        spikes = self.protocol.kept * before + self.rates[:, None] * moved
        # A spike that vanishes by symmetry, as for even activations, must not get the direction of
        # rounding.
        size = np.linalg.norm(spikes, axis=1)
        return spikes * (size > _NO_SPIKE * np.maximum(1.0, np.abs(self.rates)))[:, None]

    @cached_property
    def growth(self) -> Array:
        """Factor 1 - decay + e omega E rho A_1 by which a row of the bulk grows, (G,)."""
        return self.protocol.kept + self.rates * ((self.rho * self.averages[2]) @ self.weight)

    @cached_property
    def bulk_variance(self) -> Array:
        """The bulk variance c after the step, (G,): equation (11) for the first step."""
        own_noise = (
            self.rates**2 * self.inverse_alpha0 * ((self.rho**2 * self.averages[-1]) @ self.weight)
        )
        return self.growth**2 * self.before.bulk_variance + own_noise

    def mean_rows(self) -> Array:
        """Compute X after the step.

        The network's own output pulls the mean rows back. The batch moves all rows alike, in three
        ways: by that output along the mean rows; by the rest of it, which is noise on the labels;
        and by the norms of the inputs, with which the slopes sigma' of all neurons change.
        """
        (omega, pi), X = np.array(self.protocol.readout).T, self.before.mean_rows
        u, c = np.sqrt(pi) * omega, self.before.bulk_variance
        _, A0, A1, A2, residual, Av = self.averages
        second, curvature = self.weight * self.rho**2, self.weight * self.curvature
        a0, a1 = u[:, None] * A0, omega[:, None] * A1
        shared, norms = X @ a0, (u * c)[:, None] * A2
        drift = np.diag(self.growth) - self.rate * (a0 * curvature) @ a0.T
        cross = (a1 * shared * curvature * self.rho) @ a0.T
        batch = (a1 * second) @ a1.T * X - cross - cross.T
        own = (a0 * shared).sum(axis=0) + u**2 @ residual
        batch += (a0 * curvature * self.curvature * own) @ a0.T
        batch += self.protocol.beta / 2 * (norms * second) @ norms.T
        batch += np.diag(omega**2 * ((Av - c[:, None] * A1**2) @ second))
        return drift @ X @ drift.T + self.rate**2 * self.inverse_alpha0 * batch

    @cached_property
    def effects(self) -> tuple[Array, Array]:
        """What samples add to a row's projections: linear in these, and the noise's covariance."""
        linear = self.rates[:, None] * self.rho * self.averages[2]
        noise = self.inverse_alpha0 * (self.rates[:, None] * self.rho) ** 2 * self.averages[-1]
        return self.pairs(linear), self.pairs(noise)

    @property
    def linear_map(self) -> Array:
        """How a row's projections follow from those before the step, (G, m + B, m + B)."""
        linear, _ = self.effects
        return self.protocol.kept * np.eye(linear.shape[1]) + linear

    def covariance(self) -> Array:
        """Compute S after the step, in the directions before it and those of the batch."""
        c, rows = self.before.bulk_variance[:, None, None], self.linear_map
        batch = np.arange(len(self.y), len(self.x))
        kept = np.delete(np.arange(rows.shape[1]), batch)
        before = c * np.eye(rows.shape[1])
        before[:, kept[:, None], kept] = self.before.covariance
        # The noise already contains what the batch's own directions add to the growth of all rows.
        twice = rows[:, :, batch]
        twice[:, batch] -= self.growth[:, None, None] * np.eye(batch.size)
        moved = rows @ before @ rows.swapaxes(1, 2)
        return moved + self.effects[1] - c * twice @ twice.swapaxes(1, 2)

    def check(self) -> None:
        """Refuse a step that makes rows too long, before their covariance overflows."""
        c = float(self.bulk_variance.max())
        check_weights(self.protocol, c, 0.0)  # spikes may overflow before
        check_weights(self.protocol, c, float(np.linalg.norm(self.spikes, axis=1).max()))

    def take(self) -> LettersState:
        """Compute the state after the step.

        It keeps, of the directions across the target, those that the spikes span.
        """
        self.check()
        across = self.spikes[:, self.targets :]
        kept = gram_factor(across.T @ across)
        turn = block_diag(np.eye(self.targets), (kept / np.linalg.norm(kept, axis=0)).T)
        covariance = turn @ self.covariance() @ turn.T
        return LettersState(self.spikes @ turn.T, self.bulk_variance, self.mean_rows(), covariance)
