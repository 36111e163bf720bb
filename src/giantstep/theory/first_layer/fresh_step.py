"""A gradient step on a fresh batch: theory.md section 13.

It gives the parameters of the network after it, and Sigma, what the rows of the bulk remember of
the batches along the spike, along the target's directions and in their norms.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.quadrature import WIDE
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.problem import noise_levels, noise_power
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.targets import teacher_of
from giantstep.theory.features.activation_averages import activation_averages, mirror
from giantstep.theory.features.conditional_target import across_basis, target_rule
from giantstep.theory.features.kappa_rules import check_resolution, wide_kappa_rule
from giantstep.theory.first_layer.network_state import NetworkState, features_in_state

# What a step acts on, of a row b of the bulk: its projections on the spike v, on each direction of
# the target across v (`conditional_target`) and on the noise of the batch's gradient, and
# delta = |b|^2/c - 1.
BATCH, NORM = -2, -1
# Of E[rho^k (1, u)(1, u)^T | kappa] in kappa, where activation and target are odd.
_PARITY = (-1.0) ** np.add.outer(np.arange(5), [[0, 1], [1, 2]])[..., None]
# A spike of this size, at a rate of one, is rounding.
_NO_SPIKE = 1e-13


class Step:
    """One more step of a network: averages over a fresh batch, and what follows from them.

    With kappa = v.x and u the projections on the target's D directions across v, the residual of
    the network as it stands is `rho = y - omega mu0(kappa)`.

    Attributes
    ----------
    rate : float
        e omega, where e = learning_rate/beta.
    inverse_batch : float
        1/alpha0.
    mirrored : bool
        Whether what happens at -kappa follows from what does at kappa.
    """

    def __init__(self, protocol: Protocol, state: NetworkState, fineness: int) -> None:
        self.protocol, self.state = protocol, state
        ((self.omega, _),) = protocol.readout
        self.inverse_batch = 1 / protocol.alpha0 if protocol.alpha0 > 0 else 0.0
        e = protocol.learning_rate / protocol.beta
        self.rate = e * self.omega if protocol.alpha0 > 0 else 0.0
        srf = features_in_state(protocol, state)
        check_resolution(protocol, srf)
        activation = lookup(srf.activation)
        # A rule of half as many nodes again shows the error as well as one of twice as many.
        rule = (1 + fineness) / 2, 1.0 if activation.oscillates else WIDE
        kappa, weight = wide_kappa_rule(srf, *rule)
        if state.spike_strength == 0:  # then two nodes are exact: nothing else depends on kappa
            kappa, weight = np.array([-1.0, 1.0]), np.full(2, 0.5)
        odd_target = teacher_of(srf.target) is None and lookup(srf.target).parity == "odd"
        self.mirrored = activation.parity == "odd" and odd_target
        if self.mirrored:  # what happens at -kappa follows
            kappa, weight = kappa[kappa > 0], weight[kappa > 0]
        std = math.sqrt(state.bulk_variance)
        averages = activation_averages(activation, state.spike_strength * kappa, std, *rule)
        over_u = self._average_over_u(srf, kappa, averages.mean, rule)
        if self.mirrored:
            kappa, weight = mirror(kappa, -1.0), mirror(weight, 1.0)
            averages = averages.mirrored()
            over_u = mirror(over_u, _PARITY)
        self.kappa, self.weight, self.activation = kappa, weight, averages
        # E[rho^k (1, kappa, u)(1, kappa, u)^T | kappa], shape (5, D + 2, D + 2, N).
        rows = np.concatenate([over_u[:, :1], kappa * over_u[:, :1], over_u[:, 1:]], axis=1)
        columns = rows[:, :, :1], kappa * rows[:, :, :1], rows[:, :, 1:]
        self.residuals = np.concatenate(columns, axis=2)

    def _average_over_u(
        self, srf: SpikedFeatures, kappa: Array, output: Array, rule: tuple[float, float]
    ) -> Array:
        """Average rho^k (1, u)(1, u)^T over u and noise, k = 0 ... 4: (5, D + 1, D + 1, N)."""
        labels, u, weight = target_rule(srf, kappa, *rule)
        rho = labels - self.omega * output[:, None]
        factors = np.concatenate([np.ones_like(u[:1]), u])
        weights = weight * factors[:, None] * factors
        squared = rho * rho
        powers = np.ones_like(rho), rho, squared, squared * rho, squared * squared
        if len(weight) == 1:
            averages = [weights[:, :, 0] @ power.T for power in powers]
        else:
            averages = [np.einsum("ijnz,nz->ijn", weights, power) for power in powers]
        zeroth, first, second, third, fourth = averages
        variance = noise_power(self.protocol)
        of_noise = sum(3 * share * level**2 for level, share in noise_levels(self.protocol))
        fourth = fourth + 6 * variance * second + of_noise * zeroth
        third, second = third + 3 * variance * first, second + variance * zeroth
        return np.stack([zeroth, first, second, third, fourth])

    def expect(self, power: int, values: Array) -> Array:
        """Compute E[rho^power values(kappa) (1, kappa, u)(1, kappa, u)^T], (D + 2, D + 2)."""
        return self.residuals[power] @ (self.weight * values)

    def mean(self, power: int, values: Array) -> float:
        """Compute E[rho^power values(kappa)]."""
        return float(self.residuals[power, 0, 0] @ (self.weight * values))

    def expect_along(self, power: int, values: Array) -> Array:
        """Compute E[rho^power values(kappa) (kappa, u, N)], N along the batch's noise, (D + 2,)."""
        along_batch = self.along_batch * self.mean(power + 1, self.activation.slope * values)
        return np.append(self.expect(power, values)[0, 1:], along_batch)

    def expect_pairs(self, power: int, values: Array) -> Array:
        """Compute E[rho^power values(kappa) (kappa, u, N)(kappa, u, N)^T], (D + 2, D + 2)."""
        slope = self.activation.slope
        mixed = self.along_batch * self.expect(power + 1, slope * values)[0, 1:]
        of_batch = self.along_batch**2 * self.mean(power + 2, slope**2 * values)
        of_batch += self.mean(power, values)
        return _bordered(self.expect(power, values)[1:, 1:], mixed, of_batch)

    def take(self) -> NetworkState:
        """Compute the state after the step."""
        directions = self.directions()
        turn = np.zeros((len(directions) + 1, directions.shape[1] + 1))
        turn[:NORM, :NORM], turn[NORM, NORM] = directions, 1
        alignment = tuple(float(np.clip(one @ directions[0], -1, 1)) for one in self.targets)
        return NetworkState(
            bulk_variance=self.bulk_variance,
            spike_strength=float(np.linalg.norm(self.spike())),
            alignment=alignment if teacher_of(self.protocol.target) else alignment[0],
            mean_row=self.mean_row(),
            covariance=turn @ self.covariance() @ turn.T,
        )

    def covariance(self) -> Array:
        """Compute Sigma after the step, in the directions before it and that of the batch."""
        c, rows, noise = self.state.bulk_variance, self.linear_map(), self.batch_noise()
        before = np.zeros_like(noise)
        kept = np.delete(np.arange(len(before)), BATCH)
        before[np.ix_(kept, kept)] = self.state.covariance
        before[BATCH, BATCH] = c
        # But for the growth of all rows, what acts on the batch's own direction is in the noise.
        twice = rows[:, BATCH].copy()
        twice[BATCH] -= self.growth
        return rows @ before @ rows.T + noise - c * np.outer(twice, twice)

    @property
    def targets(self) -> Array:
        """The target's directions, along v, across it and along the batch's noise, (D, D + 2)."""
        a = np.atleast_1d(self.state.alignment)
        return np.column_stack([a, across_basis(a), np.zeros(a.size)])

    def directions(self) -> Array:
        """Find the spike's direction after the step, and the target's across it.

        Shape (1 + D, D + 2). Those across the spike are the unit vectors nearest to the target's
        that are orthogonal to the spike and to one another. Where a target has no part across the
        spike, any such vector will do.
        """
        spike = self.spike()
        strength = float(np.linalg.norm(spike))
        along = spike / strength if strength > 0 else np.eye(spike.size)[0]
        orthogonal = np.linalg.svd(along[None])[2][1:]
        left, _, right = np.linalg.svd(self.targets @ orthogonal.T, full_matrices=False)
        return np.vstack([along, left @ right @ orthogonal])

    def spike(self) -> Array:
        """Compute the spike after the step, along v, across it and along the batch's noise."""
        pull = self.expect(1, self.activation.slope)[0, 1:]
        start = np.zeros(pull.size + 1)
        start[0] = self.state.spike_strength
        spike = start + self.rate * np.array([*pull, self.batch_noise_norm])
        # Where it vanishes by symmetry, as for even activations, rounding has no direction.
        vanishes = np.linalg.norm(spike) < _NO_SPIKE * max(1.0, abs(self.rate))
        return np.zeros_like(spike) if vanishes else spike

    @cached_property
    def batch_noise_norm(self) -> float:
        """Norm s of the noise of the batch's gradient, in the direction that all rows share."""
        return math.sqrt(self.inverse_batch * self.mean(2, self.activation.slope**2))

    @cached_property
    def along_batch(self) -> float:
        """1/(alpha0 s): an input's projection on that direction is N = rho A0 times this."""
        norm = self.batch_noise_norm
        return self.inverse_batch / norm if norm > 0 else 0.0

    @cached_property
    def growth(self) -> float:
        """Factor 1 + e D by which a row of the bulk grows, D = E rho A1."""
        return 1 + self.rate * self.mean(1, self.activation.curvature)

    @cached_property
    def bulk_variance(self) -> float:
        """The bulk variance c after the step."""
        own_noise = self.inverse_batch * self.mean(2, self.activation.variance)
        return self.growth**2 * self.state.bulk_variance + self.rate**2 * own_noise

    def mean_row(self) -> float:
        """Compute X after the step.

        The network's own output pulls the mean row back. The batch moves all rows together: by
        that output along the mean row, by the rest of it, which is noise on the labels, and by the
        norms of the inputs, with which all slopes sigma' change.
        """
        A, c, X = self.activation, self.state.bulk_variance, self.state.mean_row
        own = self.omega * A.slope**2
        squared = self.mean(2, A.curvature**2) - 2 * self.mean(1, A.curvature * own)
        batch = (squared + self.mean(0, own**2)) * X
        batch += self.mean(2, A.variance - c * A.curvature**2)
        batch += self.omega**2 * self.mean(0, A.slope**2 * A.residual)
        batch += self.protocol.beta * c**2 / 2 * self.mean(2, A.third**2)
        shrink = self.growth - self.rate * self.mean(0, own)
        return shrink**2 * X + self.rate**2 * self.inverse_batch * batch

    def linear_map(self) -> Array:
        """Compute how a row's state follows from that before the step, (D + 3, D + 3)."""
        e, b, A = self.rate, self.inverse_batch, self.activation
        c, c_next = self.state.bulk_variance, self.bulk_variance
        rows, with_norm = self.expect_pairs(1, A.curvature), self.expect_along(1, A.third)
        own = e**2 * b / c_next
        full = np.eye(len(rows) + 1)
        full[:NORM, :NORM] += e * rows
        full[:NORM, NORM] = e * c / 2 * with_norm
        full[NORM, :NORM] = 2 * e * (c / c_next) * self.growth * with_norm
        full[NORM, :NORM] += own * self.expect_along(2, A.variance_along)
        stretch = self.growth * (self.growth + e * c * self.mean(1, A.fourth))
        full[NORM, NORM] = c / c_next * stretch + own * self.mean(2, A.variance_with_norm)
        return full

    def batch_noise(self) -> Array:
        """Compute the covariance that the batch adds to a row's state, (D + 3, D + 3)."""
        A, c, growth = self.activation, self.state.bulk_variance, self.growth
        own = self.rate * self.inverse_batch
        among = self.expect_pairs(2, A.variance)
        # In units of 1/c after the step.
        with_norm = 2 * growth * c * self.expect_along(2, A.variance_along)
        with_norm = (with_norm + own * self.expect_along(3, A.cube)) / self.bulk_variance
        square = 2 * c * A.variance_with_norm + c * A.variance - (c * A.curvature) ** 2
        of_norm = (
            4 * growth**2 * self.mean(2, square)
            + 4 * own * growth * self.mean(3, A.cube_along - c * A.curvature * A.variance)
            + own**2 * self.mean(4, A.fourth_power - A.variance**2)
        )
        noise = self.rate * own * _bordered(among, with_norm, of_norm / self.bulk_variance**2)
        noise[NORM, NORM] += 2 * (1 - growth**2 * c / self.bulk_variance) ** 2
        return noise


# A step is needed twice: for the state after it, and for the covariance that it gives to rows.
next_step = lru_cache(maxsize=32)(Step)


def _bordered(matrix: Array, border: Array, corner: float) -> Array:
    """Add a last row and column to a symmetric matrix."""
    return np.block([[matrix, border[:, None]], [border, np.array(corner)]])
