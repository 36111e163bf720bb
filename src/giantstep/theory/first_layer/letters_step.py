"""Gradient steps of networks whose initial readout has several values.

Equations: docs/theory/larger-rank-spikes.md.

Neurons of one letter omega share a spike U_g after each step on a fresh batch. Old batches matter
through the overlaps of the spikes alone, so that the state is finite after any number of steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.function_table import ScalarFunction
from giantstep.numerics.interpolation import interpolated
from giantstep.numerics.quadrature import WIDE
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.problem import label_levels
from giantstep.problems.protocol import Protocol
from giantstep.problems.readout import Vocabulary
from giantstep.problems.several_spikes import spike_coordinates
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.activation_averages import activation_averages
from giantstep.theory.features.kappa_rules import check_resolution, spike_rule
from giantstep.theory.first_layer.network_state import check_weights, shared_parameters

# Less of the target across the spikes counts as none.
_ALIGNED = 1e-7


@dataclass(frozen=True, eq=False)
class LettersState:
    """A network after some steps, in coordinates along the target and on directions across it.

    Attributes
    ----------
    spikes : Array, shape (G, D)
        The spike U_g of each letter; those of the target are the first directions.
    bulk_variance : Array, shape (G,)
        c of each letter.
    mean_rows : Array, shape (G, G)
        X: p times the overlaps of the letters' mean bulk rows, times the root of both fractions.
        The bulk variances are its diagonal if rows are independent.
    covariance : Array, shape (G, D, D)
        S: d times the covariance of a letter's bulk rows in these directions.
    """

    spikes: Array
    bulk_variance: Array
    mean_rows: Array
    covariance: Array

    @classmethod
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
        basis = np.vstack([basis, across / size if size > _ALIGNED else 0 * across])
        return min(alignment, 1.0), u, basis @ self.covariance @ basis.T

    def features(self, protocol: Protocol, aligned: bool = False) -> SpikedFeatures:
        """Return the equivalent features; `aligned` counts the target among the directions."""
        alignment, u, _ = (1.0, self.spikes, None) if aligned else self.in_readout_basis()
        return SpikedFeatures(
            bulk_variance=tuple(self.bulk_variance),
            spike_strength=tuple(u[:, 0]),
            alignment=alignment,
            fraction=tuple(share for _, share in protocol.readout),
            further_spikes=tuple(map(tuple, u[:, 1:])),
            **shared_parameters(protocol),
        )


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
    states = _sequence(replace(protocol, steps=1), fineness)
    while len(states) <= protocol.steps:
        states.append(_next_step(protocol, states[-1], fineness).take())
        rows, spikes = states[-1].bulk_variance, np.abs(states[-1].spikes)
        check_weights(protocol, float(rows.max()), float(spikes.max()))
    return tuple(states[1 : protocol.steps + 1])


@lru_cache(maxsize=64)
def _sequence(protocol: Protocol, fineness: int) -> list[LettersState]:
    """Begin the states after 0, 1, ... steps: protocols that differ in their number share them."""
    return [LettersState.at_initialisation(len(protocol.readout))]


def _next_step(protocol: Protocol, state: LettersState, fineness: int) -> LettersStep:
    srf = state.features(protocol, aligned=True)
    check_resolution(protocol, srf)
    kappa, beside, weight = spike_rule(srf, fineness)
    x = np.vstack([kappa, beside])
    averages = averages_of_letters(lookup(protocol.activation), state, x, fineness)
    # Of rho^k, k = 0 ... 4, times the weights: labels may be reversed, and are noisy.
    clean = lookup(protocol.target).value(kappa)
    output = np.prod(protocol.readout, axis=1) @ averages[0]
    powers = np.zeros((5, kappa.size))
    for sign, v, share in label_levels(protocol):
        r = sign * clean - output
        moments = 1 + 0 * r, r, r**2 + v, r**3 + 3 * v * r, r**4 + 6 * v * r**2 + 3 * v**2
        powers += share * weight * np.stack(moments)
    moves = protocol.alpha0 > 0
    rate = protocol.learning_rate / protocol.beta if moves else 0.0
    noise = 1 / protocol.alpha0 if moves else 0.0
    return LettersStep(state, protocol.readout, rate, noise, protocol.beta, x, averages, powers)


def averages_of_letters(
    activation: ScalarFunction, state: LettersState, x: Array, fineness: float
) -> Array:
    """Average an activation and its derivatives over the neurons of each letter.

    Returns
    -------
    Array, shape (6, G, N)
        E sigma, E sigma', E sigma'', E sigma^(3), the variance of sigma that is not linear, and
        Var sigma'.
    """

    def of_letter(mean_input: Array, std: float) -> tuple[Array, ...]:
        def average(points: Array) -> tuple[Array, ...]:
            at = activation_averages(activation, points, std, (1 + fineness) / 2, WIDE)
            return at.mean, at.slope, at.curvature, at.third, at.residual, at.variance

        return interpolated(average, mean_input, min(1.0, std) / fineness)

    pairs = zip(state.spikes @ x, np.sqrt(state.bulk_variance), strict=True)
    return np.stack([of_letter(*pair) for pair in pairs], axis=1)


@dataclass(frozen=True, eq=False)
class LettersStep:
    """One more step, from averages over a fresh batch.

    Attributes
    ----------
    state : LettersState
    readout : tuple of (float, float)
    rate : float
        e, by which gradients are multiplied.
    noise : float
        1/alpha0.
    beta : float
    x : Array, shape (D, N)
        Nodes over the samples' projections on target and spikes.
    averages : Array, shape (6, G, N)
        As `averages_of_letters` returns them.
    powers : Array, shape (5, N)
        E rho^k, k = 0 ... 4, times the weights, of `rho = y - sum_g pi_g omega_g mu0_g`, the
        residual of the network as it stands.
    targets : int
        How many of the directions are those of the target.
    """

    state: LettersState
    readout: Vocabulary
    rate: float
    noise: float
    beta: float
    x: Array
    averages: Array
    powers: Array
    targets: int = 1

    @cached_property
    def pull(self) -> Array:
        """The rate of each letter, e omega."""
        return self.rate * np.array(self.readout)[:, 0]

    @cached_property
    def spikes_in_batch(self) -> Array:
        """R: the spikes' parts along the batch's own directions, over e omega, (G, B)."""
        A0 = self.averages[1]
        return _factor(self.noise * (A0 * self.powers[2]) @ A0.T)

    @cached_property
    def inputs(self) -> Array:
        """Nodes (x, N), of which rho N are the inputs' parts along these directions, (D + B, N)."""
        in_batch = self.noise * np.linalg.pinv(self.spikes_in_batch) @ self.averages[1]
        return np.vstack([self.x, in_batch])

    def take(self) -> LettersState:
        """Compute the state after the step."""
        _, A0, A1, _, _, Av = self.averages
        gradient = np.hstack([(A0 * self.powers[1]) @ self.x.T, self.spikes_in_batch])
        spikes = self.pull[:, None] * gradient
        spikes[:, : len(self.x)] += self.state.spikes
        # Of the directions across the target, those that the spikes span are kept.
        targets = self.targets
        across = _factor(spikes[:, targets:].T @ spikes[:, targets:])
        turn = np.eye(targets + across.shape[1], spikes.shape[1])
        turn[targets:, targets:] = (across / np.linalg.norm(across, axis=0)).T
        growth = 1 + self.pull * (A1 @ self.powers[1])
        own = self.pull**2 * self.noise * (Av @ self.powers[2])
        return LettersState(
            spikes=spikes @ turn.T,
            bulk_variance=growth**2 * self.state.bulk_variance + own,
            mean_rows=self._mean_rows(growth),
            covariance=turn @ self._covariance() @ turn.T,
        )

    def _pairs(self, values: Array, power: int) -> Array:
        """Compute E rho^power values (x, rho N)(x, rho N)^T of each letter, and N's own noise."""
        x, powers = self.inputs, self.powers[power : power + 3]
        products = np.array([[(x * (f * p)) @ x.T for f in values] for p in powers])
        in_batch = np.arange(len(x)) >= len(self.x)
        pairs = np.choose(in_batch[:, None] + in_batch.astype(int), products)
        return pairs + np.diag(in_batch) * (values @ powers[0])[:, None, None]

    def _covariance(self) -> Array:
        """Compute S after the step, in the directions before it and those of the batch."""
        split, c = len(self.x), self.state.bulk_variance[:, None, None]
        pull = self.pull[:, None, None]
        moved = pull * self._pairs(self.averages[2], 1)
        rows = np.eye(moved.shape[1]) + moved
        before = c * np.eye(moved.shape[1])
        before[:, :split, :split] = self.state.covariance
        after = rows @ before @ rows.swapaxes(1, 2)
        after += pull**2 * self.noise * self._pairs(self.averages[-1], 2)
        # What acts from the batch's directions on the others is counted twice.
        twice = moved[:, :split, split:]
        after[:, :split, :split] -= c * twice @ twice.swapaxes(1, 2)
        return np.asarray(after)

    def _mean_rows(self, growth: Array) -> Array:
        """Compute X after the step, as `Step.mean_row` does for one letter."""
        omega, pi = np.array(self.readout).T
        _, A0, A1, A2, residual, Av = self.averages
        u, c, X = np.sqrt(pi) * omega, self.state.bulk_variance, self.state.mean_rows
        zeroth, first, second = self.powers[:3]
        a0, a1 = u[:, None] * A0, omega[:, None] * A1
        shared, norms = X @ a0, (u * c)[:, None] * A2
        drift = np.diag(growth) - self.rate * (a0 * zeroth) @ a0.T
        cross = (a1 * shared * first) @ a0.T
        batch = (a1 * second) @ a1.T * X - cross - cross.T
        batch += (a0 * zeroth * ((a0 * shared).sum(axis=0) + u**2 @ residual)) @ a0.T
        batch += self.beta / 2 * (norms * second) @ norms.T
        batch += np.diag(omega**2 * ((Av - c[:, None] * A1**2) @ second))
        return drift @ X @ drift.T + self.rate**2 * self.noise * batch


def _factor(gram: Array) -> Array:
    """Factorise a Gram matrix, `R R^T`, into as many columns as its rank."""
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    kept = values > 1e-11 * max(float(values.max(initial=0.0)), 1e-3)
    return vectors[:, kept] * np.sqrt(values[kept])
