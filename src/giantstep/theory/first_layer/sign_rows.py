"""The covariance of the rows after a step by signs: docs/sign-descent.md.

Over the neurons, an entry of the gradient is Gaussian around its mean. Its sign responds to a
neuron's deviation from that mean, less the larger the mean is. The response is therefore a function
of the mean's entry z, in units of its standard deviation, and smallest along the spike.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erf

from giantstep.arrays import Array
from giantstep.numerics.quadrature import graded_edges, split_rule, unit_edges
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_target import across_basis
from giantstep.theory.first_layer.fresh_step import FreshStep
from giantstep.theory.first_layer.network_state import NetworkState
from giantstep.theory.first_layer.odd_step import OddStep
from giantstep.theory.rows.batch_moments import BatchResolvent
from giantstep.theory.rows.row_functions import Forms, RowFunctions, as_columns

# Less noise of the gradient than this is none.
_ROUNDING = 1e-10


class SignedEntries:
    """Averages over the entries z of the mean gradient, for vectors that depend on them.

    The vectors are the spike, the target's D directions and that of the batch's noise.

    Parameters
    ----------
    unit : Array, shape (D + 1,)
        Direction of the mean gradient, along the target's directions and the batch's noise.
    k : float
        Its length, over the standard deviation of the gradient's entries over the neurons.
    e : float
        Length of a step.
    fineness : int

    Attributes
    ----------
    mean, response : Array, shape (N,)
        The mean of an entry of the step, and its derivative by the entry of the gradient in units
        of its standard deviation.
    strength : float
        r, the length of the mean step.
    alignments : Array, shape (D,)
    basis : Array, shape (D + 1, D + 2)
        The spike and the target's directions across it (`conditional_target`), in terms of the
        vectors.
    """

    def __init__(self, unit: Array, k: float, e: float, fineness: int = 1) -> None:
        z, self.weight = split_rule(unit_edges(graded_edges(0.0, 1 / k)), fineness)
        self.mean = e * erf(k * z / math.sqrt(2))
        self.response = e * math.sqrt(2 / math.pi) * np.exp(-((k * z) ** 2) / 2)
        self.strength = math.sqrt(self.weight @ self.mean**2)
        self._vectors = np.vstack([self.mean / self.strength, np.outer(unit, z)])
        self._across = np.pad(np.eye(unit.size) - np.outer(unit, unit), (1, 0))
        a = self.alignments = self.average(np.ones(z.size))[0, 1:-1]
        across = np.column_stack([-a, np.eye(a.size, unit.size)])
        across = np.linalg.pinv(across_basis(a)) @ across
        self.basis = np.vstack([np.eye(1, unit.size + 1), across])

    def average(self, values: Array) -> Array:
        """Average values, shape (..., N), times products of the vectors' entries."""
        weighted = (self.weight * values)[..., None, :]
        across = weighted.sum(axis=-1, keepdims=True) * self._across
        return (self._vectors * weighted) @ self._vectors.T + across


class SignRows:
    """The rows after a step by signs of an odd activation.

    Given the first batch they have the covariance `C = A + D B D` over d, where A and D are
    diagonal, functions of z (`batch_moments`). The length of a step is fixed, so that a larger part
    along the spike leaves less for other directions: to the covariance of a row and |b|^2/c - 1
    that plain descent gives, this adds `-2 r (C - 1) v/c`.

    Parameters
    ----------
    step : OddStep
        The part of the step along the gradient.
    e : float
        Length of a step.
    fineness : int

    Attributes
    ----------
    entries : SignedEntries
    gain : Array, shape (N,)
        D.
    rows : BatchResolvent
        On the rule over z.
    vectors : Array, shape (3, 3)
        The spike, the target across it, and the mean gradient in those of `entries`.
    bulk_variance : float
        c.
    """

    def __init__(self, step: OddStep, e: float, fineness: int) -> None:
        # k^2 is the squared mean of the gradient's entries over their variance.
        k = math.sqrt(2 / math.pi * e**2 / (step.tau * step.label_power) - 1)
        unit = np.array([step.alignment, math.sqrt(1 - step.alignment**2)])
        at = self.entries = SignedEntries(unit, k, e, fineness)
        self.step, own = step, 1 + e**2 - at.mean**2 - at.response**2
        self.gain = at.response / math.sqrt(step.label_power)
        self.rows = BatchResolvent(own, self.gain**2, at.weight, step.moments(fineness))
        self.vectors = np.vstack([at.basis, [0, *unit]])
        self.bulk_variance = 1 + e**2 - at.strength**2

    def functions(self) -> tuple[RowFunctions, NetworkState]:
        """Fit traces and forms of the resolvent; with the state, in which norms vary."""
        *_, covariance = self._resolvents(np.zeros(1))
        c, r, own = self.bulk_variance, self.entries.strength, self.step.norm_coupling
        # The covariance with |b|^2/c - 1 in `vectors`: what is multiplied by C, and what is not.
        through_C, beside = np.array([[-2 * r, 0, 0], [2 * r, 0, 2 * own]]) / c

        def columns(t: Array) -> Array:
            f, phi, R, filtered = self._resolvents(t)
            of_C, twice = filtered @ through_C, (covariance - filtered) / t[:, None, None]
            of_a = of_C + R @ beside
            R[:, :2, 2] = R[:, 2, :2] = of_a[:, :2]
            R[:, 2, 2] = twice @ through_C @ through_C + (of_C + of_a) @ beside
            return as_columns(f, phi, Forms(R, filtered[:, :2, :2]))

        variance = 4 * (c - 1 + own**2 + r**2 * (covariance[0, 0, 0] - 1)) / c**2
        rows, a = RowFunctions.fitted(c, columns), self.entries.alignments
        return rows, NetworkState(c, r, a, c, rows.covariance(variance))

    def _resolvents(self, t: Array) -> tuple[Array, Array, Array, Array]:
        """Compute traces and forms of `(1 + t C)^-1` and `C (1 + t C)^-1`, in `vectors`."""
        trace = self.rows.trace(t)
        E, diagonal, Q = self.rows.at(t, trace)
        plain, mixed, W = (self.entries.average(self.gain**j * Q) for j in range(3))
        # What the batch adds along theta and along the direction n of its noise.
        x = self.step.inverse_alpha0
        along = E[2, 2] - E[2, 0] + x * t * trace * E[3, 1] ** 2 / E[2, 0]
        both = math.sqrt(x * self.step.label_power) * E[3, 1] / E[2, 0]
        K = np.stack([along, both, both, x * E[4, 0] / E[2, 0]], axis=-1).reshape(-1, 2, 2)
        H, by_t, T = mixed[:, :, 1:], t[:, None, None], self.vectors
        inner = np.linalg.solve(np.eye(2) + by_t * K @ W[:, 1:, 1:], K)
        update = H @ inner @ H.transpose(0, 2, 1)
        by_C = self.entries.average(Q * diagonal)
        R, filtered = T @ (plain - by_t * update) @ T.T, T @ (by_C + update) @ T.T
        return Q @ self.rows.weight, (Q * diagonal) @ self.rows.weight, R, filtered


def directions_after_signs(
    step: FreshStep, e: float, srf: SpikedFeatures
) -> tuple[RowFunctions, NetworkState] | None:
    """Compute the rows' functions and the state after a step, for any activation and target.

    Beyond spike and target the covariance of the rows is taken as isotropic.

    Parameters
    ----------
    step : FreshStep
        The step of plain descent.
    e : float
        Length of the step by signs.
    srf : SpikedFeatures
        The features after the step by signs.

    Returns
    -------
    tuple
        None if the step's mean or noise vanishes.
    """
    own = (step.growth[0] - 1) ** 2 + step.bulk_variance[0] - step.growth[0] ** 2
    if not (own > _ROUNDING and np.any(step.spikes)):
        return None
    c, covariance = float(srf.groups.c[0]), np.zeros((srf.alignments.size + 2,) * 2)
    S = _covariance(step, e, math.sqrt(own))
    covariance[:-1, :-1] = S

    def columns(t: Array) -> Array:
        f, R = 1 / (1 + c * t), np.zeros((t.size, *covariance.shape))
        R[:, :-1, :-1] = np.linalg.inv(np.eye(len(S)) + t[:, None, None] * S)
        return as_columns(f, c * f, Forms(R, S @ R[:, :-1, :-1]))

    state = NetworkState(c, float(srf.groups.u[0]), srf.alignments, c, covariance)
    return RowFunctions.fitted(c, columns), state


def _covariance(step: FreshStep, e: float, deviation: float) -> Array:
    """Compute d times the covariance along the spike and the target across it, (D + 1, D + 1)."""
    spike, growth = step.spikes[0, 1:], step.growth[0] - 1
    length = float(np.linalg.norm(spike))
    at = SignedEntries(spike / length, length / deviation, e)
    response = at.response / deviation
    # The effects of plain descent along target and batch, less multiples of the identity.
    linear, noise = step.linear_map[0, 1:-1, 1:-1], step.effects[1][0, 1:-1, 1:-1]
    identity, own_noise = np.eye(len(linear)), step.bulk_variance - step.growth**2
    linear, noise = linear - step.growth * identity, noise - own_noise * identity
    responses = at.average(response)[:, 1:]
    mixed = responses @ linear @ at.average(1 + growth * response)[1:]
    # The noise already contains the effect of the batch's direction on the others.
    kept = linear[:, :-1]
    S = at.average(1 + 2 * growth * response + e**2 - at.mean**2) + mixed + mixed.T
    S += responses @ (kept @ kept.T + noise) @ responses.T
    return at.basis @ S @ at.basis.T
