"""A gradient step of one letter on a fresh batch, with the norms of rows: theory.md section 13.

The projections y of `Step` are here kappa = v.x on the spike v, and u on the target's D directions
across it (`conditional_target`). Beyond the projections on these and on the noise N of the batch's
gradient, a row b of the bulk has one more coordinate, delta = |b|^2/c - 1.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.quadrature import WIDE
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.losses import lookup_loss
from giantstep.problems.protocol import Protocol
from giantstep.problems.targets import teacher_of
from giantstep.theory.features.activation_averages import ActivationAverages, activation_averages
from giantstep.theory.features.conditional_target import across_basis
from giantstep.theory.features.kappa_rules import check_resolution, merged_kappa_rule
from giantstep.theory.first_layer.network_state import NetworkState, features_in_state, spike_basis
from giantstep.theory.first_layer.step import LettersState, Step, of_residuals
from giantstep.theory.first_layer.step_loss import pulls

# A spike of this size, at a rate of one, is rounding.
_NO_SPIKE = 1e-13


class FreshStep(Step):
    """One more step of a network with a uniform readout.

    Parameters
    ----------
    protocol : Protocol
    state : NetworkState
    fineness : int
        Multiplies the number of nodes of rules.

    Attributes
    ----------
    kappa, weight : Array, shape (N,)
    activation : ActivationAverages
        On these nodes.
    on_nodes : ActivationAverages
        The same on those of `Step`, of which there are as many at each kappa.
    """

    def __init__(self, protocol: Protocol, state: NetworkState, fineness: int) -> None:
        self.protocol, self.state = protocol, state
        srf = features_in_state(protocol, state)
        check_resolution(protocol, srf)
        activation = lookup(srf.activation)
        # A rule of half as many nodes again shows the error as well as one of twice as many.
        rule = (1 + fineness) / 2, 1.0 if activation.oscillates else WIDE
        # Without a spike two nodes are exact: nothing else depends on kappa.
        self.kappa, self.weight = np.array([-1.0, 1.0]), np.full(2, 0.5)
        if state.spike_strength > 0:
            self.kappa, self.weight = merged_kappa_rule(srf, *rule)
        inputs, std = state.spike_strength * self.kappa, math.sqrt(state.bulk_variance)
        self.activation = activation_averages(activation, inputs, std, *rule)
        ((omega, _),) = protocol.readout
        output = omega * self.activation.mean
        rho, curvature, u, weight = pulls(protocol, srf, self.kappa, output, rule)
        on_nodes = np.repeat(np.stack(self.activation), rho.shape[1], axis=1)
        self.on_nodes = ActivationAverages(*on_nodes)
        averages = np.stack(self.on_nodes.of_letters)[:, None]
        spikes, c = state.spike_strength * np.eye(1, len(u) + 1), np.array([state.bulk_variance])
        before = LettersState(spikes, c, np.array([[state.mean_row]]), state.covariance[None])
        weights = self.weight[:, None] * weight
        powers, curvatures = of_residuals(*(each.ravel() for each in (rho, curvature, weights)))
        y = np.stack(np.broadcast_arrays(self.kappa[:, None], *u)).reshape(len(u) + 1, -1)
        super().__init__(protocol, before, averages, powers, curvatures, y)

    @property
    def mirrored(self) -> bool:
        """Whether what happens at -kappa follows from what does at kappa."""
        functions = self.protocol.activation, self.protocol.target
        several = teacher_of(self.protocol.target) is not None
        odd = not several and all(lookup(function).parity == "odd" for function in functions)
        return odd and lookup_loss(self.protocol.step_loss).is_symmetric()

    def after(self) -> NetworkState:
        """Compute the state after the step."""
        alignment, directions = self.directions()
        turn = np.pad(directions, (0, 1))
        turn[-1, -1] = 1  # the norm
        c, r, X = self.bulk_variance.item(), np.linalg.norm(self.spike), self.mean_rows().item()
        return NetworkState(c, float(r), alignment, X, turn @ self.covariance()[0] @ turn.T)

    def directions(self) -> tuple[Array, Array]:
        """Compute `spike_basis` after the step, along v, across it and along the batch's noise."""
        a = self.state.alignment
        targets = np.column_stack([a, across_basis(a), np.zeros(a.size)])
        return spike_basis(self.spike, targets)

    @cached_property
    def spike(self) -> Array:
        """The spike after the step, along v, across it and along the batch's noise."""
        spike: Array = self.spikes[0]
        # Where it vanishes by symmetry, as for even activations, rounding has no direction.
        vanishes = np.linalg.norm(spike) < _NO_SPIKE * max(1.0, abs(self.pull[0]))
        return np.zeros_like(spike) if vanishes else spike

    @cached_property
    def linear_map(self) -> Array:
        """How a row's state follows from that before the step, (1, D + 3, D + 3)."""
        A, c, (e,), (growth,) = self.on_nodes, self.state.bulk_variance, self.pull, self.growth
        (c_next,) = self.bulk_variance
        with_norm = self.all_along(1, A.third[None])
        own = e**2 * self.noise / c_next
        of_norm = 2 * e * (c / c_next) * growth * with_norm
        of_norm += own * self.all_along(2, A.variance_along[None])
        stretch = growth * (growth + e * c * self.mean(1, A.fourth))
        norm = c / c_next * stretch + own * self.mean(2, A.variance_with_norm)
        by_norm = e * c / 2 * with_norm
        return np.block([[super().linear_map[0], by_norm.T], [of_norm, norm]])[None]

    def batch_noise(self) -> Array:
        """Compute the covariance that the batch adds to a row's state, (1, D + 3, D + 3)."""
        A, c, (e,), (growth,) = self.on_nodes, self.state.bulk_variance, self.pull, self.growth
        (c_next,) = self.bulk_variance
        own = e * self.noise
        # In units of 1/c after the step.
        with_norm = 2 * growth * c * self.all_along(2, A.variance_along[None])
        with_norm = e * own * (with_norm + own * self.all_along(3, A.cube[None])) / c_next
        square = 2 * c * A.variance_with_norm + c * A.variance - (c * A.curvature) ** 2
        of_norm = (
            4 * growth**2 * self.mean(2, square)
            + 4 * own * growth * self.mean(3, A.cube_along - c * A.curvature * A.variance)
            + own**2 * self.mean(4, A.fourth_power - A.variance**2)
        )
        of_norm = e * own * of_norm / c_next**2 + 2 * (1 - growth**2 * c / c_next) ** 2
        return np.block([[super().batch_noise()[0], with_norm.T], [with_norm, of_norm]])[None]


# A step is needed twice: for the state after it, and for the covariance that it gives to rows.
next_step = lru_cache(maxsize=32)(FreshStep)
