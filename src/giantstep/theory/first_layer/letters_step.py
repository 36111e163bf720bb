"""Gradient steps of networks whose initial readout has several values.

Equations: docs/theory/larger-rank-spikes.md. Inputs are projected on the target and on directions
across it that the letters' spikes span.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.function_table import ScalarFunction
from giantstep.numerics.interpolation import interpolated
from giantstep.numerics.quadrature import WIDE
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.losses import lookup_loss
from giantstep.problems.protocol import Protocol
from giantstep.theory.features.activation_averages import activation_averages
from giantstep.theory.features.kappa_rules import check_resolution, spike_rule
from giantstep.theory.first_layer.network_state import check_weights
from giantstep.theory.first_layer.step import LettersState, Step, gram_factor, of_protocol
from giantstep.theory.first_layer.step_loss import noisy_labels


def letters_states(protocol: Protocol, fineness: int = 1) -> tuple[LettersState, ...]:
    """Compute the state of a network after each of its steps.

    Parameters
    ----------
    protocol : Protocol
        With fresh batches, and a target of one direction.
    fineness : int
        Multiplies the number of nodes of all rules.

    Raises
    ------
    InvalidParametersError
        If a step is too large.

    Examples
    --------
    >>> from giantstep import Protocol
    >>> relu = Protocol("relu", "sign", 2, 4, beta=1, readout=((-1, 0.5), (1, 0.5)), steps=2)
    >>> letters_states(relu)[-1].gram.round(4)
    array([[ 1.6596, -1.6227],
           [-1.6227,  1.6596]])
    """
    states = [LettersState.at_initialisation(len(protocol.readout))]
    for step in protocol.each_step:
        states.append(_state_after(step, states[-1], fineness))
    return tuple(states[1:])


@lru_cache(maxsize=256)  # protocols share the first steps that they have in common
def _state_after(protocol: Protocol, before: LettersState, fineness: int) -> LettersState:
    state = _next_step(protocol, before, fineness).take()
    largest = float(np.abs(state.spikes).max())
    check_weights(protocol, float(state.bulk_variance.max()), largest)
    return state


def _next_step(protocol: Protocol, state: LettersState, fineness: int) -> LettersStep:
    srf = state.features(protocol, aligned=True)
    check_resolution(protocol, srf)
    kappa, beside, weight = spike_rule(srf, fineness)
    x = np.vstack([kappa, beside])
    averages = averages_of_letters(lookup(protocol.activation), state, x, fineness)
    clean = lookup(protocol.target).value(kappa)
    output = np.prod(protocol.readout, axis=1) @ averages[0]
    powers, curvatures = np.zeros((5, kappa.size)), np.zeros((3, kappa.size))
    loss = lookup_loss(protocol.step_loss)
    for sign, noise, share in noisy_labels(protocol):
        rho, curvature = loss.pull(sign * clean + noise, output)
        powers += share * weight * rho ** np.arange(5)[:, None]
        curvatures += share * weight * np.stack([curvature, curvature**2, rho * curvature])
    return LettersStep(*of_protocol(protocol), state, averages, powers, curvatures, x)


def averages_of_letters(
    activation: ScalarFunction, state: LettersState, x: Array, fineness: float
) -> Array:
    """Average an activation and its derivatives over the neurons of each letter: (6, G, N)."""

    def of_letter(mean_input: Array, std: float) -> tuple[Array, ...]:
        def average(points: Array) -> tuple[Array, ...]:
            return activation_averages(activation, points, std, (1 + fineness) / 2, WIDE).of_letters

        return interpolated(average, mean_input, min(1.0, std) / fineness)

    pairs = zip(state.spikes @ x, np.sqrt(state.bulk_variance), strict=True)
    return np.stack([of_letter(*pair) for pair in pairs], axis=1)


@dataclass(eq=False)
class LettersStep(Step):
    """One more step, in which inputs are given on target and spikes.

    Attributes
    ----------
    readout, rate, noise, beta, before, averages, powers
        As for `Step`.
    x : Array, shape (m, N)
        Nodes over the samples' projections on target and spikes.
    targets : int
        How many of the directions are those of the target.
    """

    x: Array
    targets: int = 1

    def along(self, power: int, values: Array) -> Array:
        """Compute E[rho^power values y]."""
        return (values * self.powers[power]) @ self.x.T

    def pairs(self, power: int, values: Array) -> Array:
        """Compute E[rho^power values y y^T]."""
        return np.stack(
            [(self.x * of_letter) @ self.x.T for of_letter in values * self.powers[power]]
        )

    def take(self) -> LettersState:
        """Compute the state after the step.

        Of the directions across the target, those that the spikes span are kept.
        """
        targets, across = self.targets, self.spikes[:, self.targets :]
        kept = gram_factor(across.T @ across)
        turn = np.eye(targets + kept.shape[1], self.spikes.shape[1])
        turn[targets:, targets:] = (kept / np.linalg.norm(kept, axis=0)).T
        covariance = turn @ self.covariance() @ turn.T
        return LettersState(self.spikes @ turn.T, self.bulk_variance, self.mean_rows(), covariance)
