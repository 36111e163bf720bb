"""Gradient steps of networks whose initial readout has several values.

Equations: docs/theory/larger-rank-spikes.md.

Neurons of one letter omega share a spike U_g after each step on a fresh batch. Old batches matter
through the overlaps of the spikes alone, so that the state is finite after any number of steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.interpolation import interpolated
from giantstep.numerics.quadrature import WIDE
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.problem import label_levels
from giantstep.problems.protocol import Protocol
from giantstep.problems.several_spikes import spike_coordinates
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.activation_averages import activation_averages
from giantstep.theory.features.conditional_features import mean_inputs
from giantstep.theory.features.kappa_rules import check_resolution, spike_rule
from giantstep.theory.features.network_state import check_weights, shared_parameters

# Less of the target across the spikes counts as none.
_ALIGNED = 1e-7


@dataclass(frozen=True, eq=False)
class LettersState:
    """A network after some steps, in coordinates along the target and on directions across it.

    Attributes
    ----------
    spikes : Array, shape (G, D)
        The spike U_g of each letter; the target is the first direction.
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
        states.append(_LettersStep(protocol, states[-1], fineness).take())
        rows, spikes = states[-1].bulk_variance, np.abs(states[-1].spikes)
        check_weights(protocol, float(rows.max()), float(spikes.max()))
    return tuple(states[1 : protocol.steps + 1])


@lru_cache(maxsize=64)
def _sequence(protocol: Protocol, fineness: int) -> list[LettersState]:
    """Begin the states after 0, 1, ... steps: protocols that differ in their number share them."""
    letters = len(protocol.readout)
    one = np.ones(letters)
    return [LettersState(np.zeros((letters, 1)), one, np.diag(one), one[:, None, None])]


class _LettersStep:
    """One more step: averages over a fresh batch, and what follows from them.

    The residual of the network as it stands is `rho = y - sum_g pi_g omega_g mu0_g`.
    """

    def __init__(self, protocol: Protocol, state: LettersState, fineness: int) -> None:
        self.protocol, self.state = protocol, state
        self.omega, self.pi = np.array(protocol.readout).T
        self.noise = 1 / protocol.alpha0 if protocol.alpha0 > 0 else 0.0
        self.e = protocol.learning_rate / protocol.beta if protocol.alpha0 > 0 else 0.0
        srf = state.features(protocol, aligned=True)
        check_resolution(protocol, srf)
        kappa, beside, weight = spike_rule(srf, fineness)
        self.x = np.vstack([kappa, beside])
        inputs = mean_inputs(srf, kappa, beside)
        of_groups = [
            self._averages(*pair, fineness) for pair in zip(srf.groups.c, inputs, strict=True)
        ]
        self.mean, self.A0, self.A1, self.A2, self.residual, self.Av = np.stack(of_groups, axis=1)
        # Of rho^k, k = 0 ... 4, times the weights: labels may be reversed, and are noisy.
        clean, output = lookup(protocol.target).value(kappa), (self.pi * self.omega) @ self.mean
        self.powers = np.zeros((5, kappa.size))
        for sign, v, share in label_levels(protocol):
            r = sign * clean - output
            moments = 1 + 0 * r, r, r**2 + v, r**3 + 3 * v * r, r**4 + 6 * v * r**2 + 3 * v**2
            self.powers += share * weight * np.stack(moments)
        # The batch's own directions: spikes have the part e omega R along them, inputs rho N.
        self.R = _factor(self.noise * (self.A0 * self.powers[2]) @ self.A0.T)
        self.N = self.noise * np.linalg.pinv(self.R) @ self.A0

    def _averages(self, c: float, inputs: Array, fineness: int) -> tuple[Array, ...]:
        """Average the activation at a letter's inputs."""
        activation, std = lookup(self.protocol.activation), float(np.sqrt(c))

        def average(points: Array) -> tuple[Array, ...]:
            at = activation_averages(activation, points, std, (1 + fineness) / 2, WIDE)
            return at.mean, at.slope, at.curvature, at.third, at.residual, at.variance

        return interpolated(average, inputs, min(1.0, std) / fineness)

    def take(self) -> LettersState:
        """Compute the state after the step."""
        e_omega, pull = (self.e * self.omega)[:, None], self.A0 * self.powers[1]
        spikes = np.hstack([self.state.spikes + e_omega * (pull @ self.x.T), e_omega * self.R])
        # Of the directions across the target, those that the spikes span are kept.
        across = _factor(spikes[:, 1:].T @ spikes[:, 1:])
        turn = np.zeros((1 + across.shape[1], spikes.shape[1]))
        turn[0, 0], turn[1:, 1:] = 1, (across / np.linalg.norm(across, axis=0)).T
        growth = 1 + self.e * self.omega * (self.A1 @ self.powers[1])
        own = (self.e * self.omega) ** 2 * self.noise * (self.Av @ self.powers[2])
        return LettersState(
            spikes=spikes @ turn.T,
            bulk_variance=growth**2 * self.state.bulk_variance + own,
            mean_rows=self._mean_rows(growth),
            covariance=turn @ self._covariance() @ turn.T,
        )

    def _pairs(self, values: Array, power: int) -> Array:
        """Compute E rho^power values (x, N)(x, N)^T of each letter."""
        size = len(self.x) + len(self.N)
        pairs, split = np.zeros((len(values), size, size)), len(self.x)
        zeroth, first, second = self.powers[power : power + 3]
        for of_letter, f in zip(pairs, values, strict=True):
            of_letter[:split, :split] = (self.x * (f * zeroth)) @ self.x.T
            of_letter[:split, split:] = (self.x * (f * first)) @ self.N.T
            of_letter[split:, :split] = of_letter[:split, split:].T
            of_letter[split:, split:] = (self.N * (f * second)) @ self.N.T
            of_letter[split:, split:] += np.eye(len(self.N)) * (f @ zeroth)
        return pairs

    def _covariance(self) -> Array:
        """Compute S after the step, in the directions before it and those of the batch."""
        split, c = len(self.x), self.state.bulk_variance[:, None, None]
        rate = (self.e * self.omega)[:, None, None]
        moved = rate * self._pairs(self.A1, 1)
        rows = np.eye(moved.shape[1]) + moved
        before = c * np.eye(moved.shape[1])
        before[:, :split, :split] = self.state.covariance
        after = rows @ before @ rows.swapaxes(1, 2)
        after += rate**2 * self.noise * self._pairs(self.Av, 2)
        # What acts from the batch's directions on the others is counted twice.
        twice = moved[:, :split, split:]
        after[:, :split, :split] -= c * twice @ twice.swapaxes(1, 2)
        return np.asarray(after)

    def _mean_rows(self, growth: Array) -> Array:
        """Compute X after the step, as `Step.mean_row` does for one letter."""
        u, c, X = np.sqrt(self.pi) * self.omega, self.state.bulk_variance, self.state.mean_rows
        zeroth, first, second = self.powers[:3]
        a0, a1 = u[:, None] * self.A0, self.omega[:, None] * self.A1
        shared, norms = X @ a0, (u * c)[:, None] * self.A2
        drift = np.diag(growth) - self.e * (a0 * zeroth) @ a0.T
        cross = (a1 * shared * first) @ a0.T
        batch = (a1 * second) @ a1.T * X - cross - cross.T
        batch += (a0 * zeroth * ((a0 * shared).sum(axis=0) + u**2 @ self.residual)) @ a0.T
        batch += self.protocol.beta / 2 * (norms * second) @ norms.T
        batch += np.diag(self.omega**2 * ((self.Av - c[:, None] * self.A1**2) @ second))
        after: Array = drift @ X @ drift.T + self.e**2 * self.noise * batch
        return after


def _factor(gram: Array) -> Array:
    """Factorise a Gram matrix, `R R^T`, into as many columns as its rank."""
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    kept = values > 1e-11 * max(float(values.max(initial=0.0)), 1e-3)
    factor: Array = vectors[:, kept] * np.sqrt(values[kept])
    return factor
