"""A gradient step of one letter on a fresh batch, with the norms of rows: theory.md section 13.

The projections y of `Step` are here kappa = v.x on the spike v, and u on the target's D directions
across it (`conditional_target`). Beyond the projections on these and on the noise N of the batch's
gradient, a row b of the bulk has one more coordinate, delta = |b|^2/c - 1.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache

import numpy as np
from scipy.linalg import block_diag

from giantstep.arrays import Array
from giantstep.numerics.activation_averages import ActivationAverages, activation_averages
from giantstep.numerics.function_table import ScalarFunction
from giantstep.numerics.quadrature import WIDE
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.losses import lookup_loss
from giantstep.problems.protocol import Protocol
from giantstep.problems.targets import teacher_of
from giantstep.theory.features.kappa_rules import check_resolution, fewest_nodes
from giantstep.theory.first_layer.network_state import NetworkState, features_in_state, spike_basis
from giantstep.theory.first_layer.step import LettersState, Step
from giantstep.theory.first_layer.step_loss import corner_transitions, step_residuals

# Nodes of less weight are left out.
_NEGLIGIBLE = 1e-18


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
    rule : (float, float)
        What multiplies the number of nodes of a panel, and its width.
    kappa, share : Array, shape (K,)
        A rule over kappa.
    activation : ActivationAverages
        On these nodes.
    on_nodes : ActivationAverages
        The same on the nodes of `Step`.
    """

    def __init__(self, protocol: Protocol, state: NetworkState, fineness: int) -> None:
        self.protocol, self.state = protocol, state
        srf = features_in_state(protocol, state)
        check_resolution(protocol, srf)
        activation = lookup(srf.activation)
        # A rule of half as many nodes again shows the error as well as one of twice as many.
        rule = self.rule = (1 + fineness) / 2, 1.0 if activation.oscillates else WIDE
        # Without a spike two nodes are exact: nothing else depends on kappa.
        self.kappa, self.share = np.array([-1.0, 1.0]), np.full(2, 0.5)
        if state.spike_strength > 0:
            corners = corner_transitions(protocol, srf, self.output)
            self.kappa, self.share = fewest_nodes(srf, *rule, *corners)
        self.activation = self._averages(self.kappa)
        output = protocol.readout[0][0] * self.activation.mean
        rho, curvature, u, weight = step_residuals(protocol, srf, self.kappa, output, rule)
        weight = (self.share[:, None] * weight).ravel()
        kept = np.flatnonzero(weight > _NEGLIGIBLE)
        self.on_nodes = self.activation.at(kept // rho.shape[1])
        averages = np.stack(self.on_nodes.of_letters)[:, None]
        spikes, c = state.spike_strength * np.eye(1, len(u) + 1), np.array([state.bulk_variance])
        before = LettersState(spikes, c, np.array([[state.mean_row]]), state.covariance[None])
        y = np.stack(np.broadcast_arrays(self.kappa[:, None], *u)).reshape(len(u) + 1, -1)
        rho, curvature = rho.ravel()[kept], curvature.ravel()[kept]
        super().__init__(protocol, before, averages, rho, curvature, weight[kept], y[:, kept])

    def _averages(self, kappa: Array) -> ActivationAverages:
        r, std = self.state.spike_strength, math.sqrt(self.state.bulk_variance)
        return activation_averages(lookup(self.protocol.activation), r * kappa, std, *self.rule)

    @property
    def output(self) -> ScalarFunction:
        """The network's output as a function of kappa."""
        (letter, _), r = self.protocol.readout[0], self.state.spike_strength
        return ScalarFunction(
            "output",
            lambda kappa: letter * self._averages(kappa.ravel()).mean.reshape(kappa.shape),
            lambda kappa: letter * r * self._averages(kappa.ravel()).slope.reshape(kappa.shape),
        )

    @property
    def mirrored(self) -> bool:
        """Whether averages at -kappa follow from those at kappa by symmetry."""
        functions = self.protocol.activation, self.protocol.target
        several = teacher_of(self.protocol.target) is not None
        odd = not several and all(lookup(function).parity == "odd" for function in functions)
        return odd and lookup_loss(self.protocol.step_loss).is_symmetric()

    def after(self) -> NetworkState:
        """Compute the state after the step."""
        self.check()
        alignment, directions = self.directions()
        turn = block_diag(directions, 1.0)  # beside the norm
        c, r, X = self.bulk_variance.item(), np.linalg.norm(self.spikes), self.mean_rows().item()
        return NetworkState(c, float(r), alignment, X, turn @ self.covariance()[0] @ turn.T)

    def directions(self) -> tuple[Array, Array]:
        """Compute `spike_basis` after the step, along v, across it and along the batch's noise."""
        return spike_basis(self.spikes[0], np.pad(self.state.targets, ((0, 0), (0, 1))), 0)

    def responses(self, rho: Array, A: ActivationAverages) -> tuple[Array, Array]:
        """Compute the effect of samples x on a row b of the bulk and on its delta.

        Parameters
        ----------
        rho : Array, shape (N,)
        A : ActivationAverages

        Returns
        -------
        linear : Array, shape (2, 2, N)
            The response of (b along x, delta) to (the projection of b on x, delta).
        noise : Array, shape (2, 2, N)
            The covariance of the part of their change that is not linear in these.
        """
        (e,), b, (growth,) = self.rates, self.inverse_alpha0, self.growth
        c, (c_next,) = self.state.bulk_variance, self.bulk_variance
        own, squared = e * b * rho, e**2 * b * rho**2
        by_norm = e * c / 2 * rho * A.third
        of_row = 4 * growth * by_norm + squared * A.variance_along
        of_norm = growth * c * (growth + e * c * rho * A.fourth) + squared * A.variance_with_norm
        shared = squared * (2 * growth * c * A.variance_along + own * A.cube)
        square = 2 * c * A.variance_with_norm + c * A.variance - (c * A.curvature) ** 2
        cubic = A.cube_along - c * A.curvature * A.variance
        fourth = own**2 * (A.fourth_power - A.variance**2)
        norms = squared * (4 * growth**2 * square + 4 * own * growth * cubic + fourth)
        norms += 2 * (c_next - growth**2 * c) ** 2
        # In units of 1/c after the step.
        of_norm = of_norm / c_next - self.protocol.kept
        linear = np.array([[e * rho * A.curvature, by_norm], [of_row / c_next, of_norm]])
        shared = shared / c_next
        return linear, np.array([[squared * A.variance, shared], [shared, norms / c_next**2]])

    @cached_property
    def effects(self) -> tuple[Array, Array]:
        """What samples add to a row's projections and to delta, (1, D + 3, D + 3)."""
        linear, noise = self.responses(self.rho, self.on_nodes)
        return self._with_norm(linear), self._with_norm(noise)

    def _with_norm(self, values: Array) -> Array:
        (rows, by_norm), (of_row, norm) = values
        by_norm, of_row = self.along(np.stack([by_norm, of_row]))
        beside = [[self.pairs(rows[None])[0], by_norm[:, None]], [of_row, norm @ self.weight]]
        return np.block(beside)[None]


# A step is needed twice: for the state after it, and for the covariance that it gives to rows.
next_step = lru_cache(maxsize=32)(FreshStep)
