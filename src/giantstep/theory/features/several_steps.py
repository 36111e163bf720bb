"""The network after several gradient steps on fresh batches: theory.md section 13.

With a uniform readout all neurons share one spike after every step, so that the network stays a
spiked random features model. A recursion over the steps gives its parameters, and what the rows of
the bulk remember of the batches. It holds for activations that are not odd, and for targets of
several directions, in whose span the spike turns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.quadrature import WIDE
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.domains import BULK_VARIANCE, SPIKE_STRENGTH
from giantstep.problems.problem import noise_levels, noise_power
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.targets import teacher_of
from giantstep.theory.features.activation_averages import activation_averages, mirror
from giantstep.theory.features.conditional_features import check_resolution, wide_kappa_rule
from giantstep.theory.features.conditional_target import across_basis, target_rule
from giantstep.validation import Fault, InvalidParametersError

# What a step acts on, of a row b of the bulk: its projections on the spike v, on each direction of
# the target across v (`conditional_target`) and on the noise of the batch's gradient, and
# delta = |b|^2/c - 1.
BATCH, NORM = -2, -1
# A part of the target across the spike that is shorter than this is rounding.
_ROUNDING = 1e-9
# Of E[rho^k (1, u)(1, u)^T | kappa] in kappa, where activation and target are odd.
_PARITY = (-1.0) ** np.add.outer(np.arange(5), [[0, 1], [1, 2]])[..., None]
# So is a spike of this size, at a rate of one.
_NO_SPIKE = 1e-13


@dataclass(frozen=True, eq=False)
class NetworkState:
    """A network with a uniform readout after some gradient steps.

    Attributes
    ----------
    bulk_variance, spike_strength : float
        c and r >= 0 of the equivalent spiked random features.
    alignment : float or tuple of float
        gamma: the overlap of the spike's direction v with the target's; for a teacher of D
        directions a tuple of the overlaps with each.
    mean_row : float
        X: p times the squared norm of the bulk's mean row; c if rows are independent.
    covariance : Array, shape (D + 2, D + 2)
        Sigma: d times the covariance, over rows b of the bulk, of the projections on the spike and
        on the target's directions across it (`conditional_target`), and of |b|^2/c - 1.
    """

    bulk_variance: float = 1.0
    spike_strength: float = 0.0
    alignment: float | tuple[float, ...] = 0.0
    mean_row: float = 1.0
    covariance: Array = field(default_factory=lambda: np.diag([1.0, 1.0, 0.0]))

    @classmethod
    def at_initialisation(cls, target: str) -> NetworkState:
        """Describe a network before its first step."""
        teacher = teacher_of(target)
        if teacher is None:
            return cls()
        alignment = (0.0,) * teacher.directions
        return cls(alignment=alignment, covariance=np.diag([1.0, *np.ones_like(alignment), 0.0]))

    def row_overlaps(self, dimension: float = math.inf) -> Array:
        """Compute the fraction of a row's squared norm along each direction of the target, (D,).

        At finite dimension the bulk has some of it, too: at first chance, 1/d. Steps multiply it,
        and these equations hold as long as it is small.
        """
        a = np.atleast_1d(self.alignment)
        directions = np.column_stack([a, across_basis(a)])
        of_bulk = np.einsum("ki,ij,kj->k", directions, self.covariance[:-1, :-1], directions)
        strength = self.spike_strength**2
        share: Array = (strength * a**2 + of_bulk / dimension) / (self.bulk_variance + strength)
        return share


def network_states(protocol: Protocol, fineness: int = 1) -> tuple[NetworkState, ...]:
    """Compute the state of a network after each of its steps; theory.md section 13.

    Parameters
    ----------
    protocol : Protocol
        With a uniform readout and fresh batches.
    fineness : int
        Multiplies the number of nodes of all rules.

    Returns
    -------
    tuple of NetworkState
        One for each of `protocol.steps` steps.

    Raises
    ------
    InvalidParametersError
        If a step is too large.

    Examples
    --------
    >>> from giantstep import Protocol
    >>> states = network_states(Protocol("tanh", "sin", 2, alpha0=20, beta=1, steps=2))
    >>> [round(state.alignment, 6) for state in states]
    [0.971854, 0.995029]

    On a target of several directions, the overlap of the spike with each of them:

    >>> staircase = Protocol("softplus", "z1+z1*z2", 1, alpha0=4, beta=1, steps=2)
    >>> [round(overlap, 2) for overlap in network_states(staircase)[-1].alignment]
    [0.87, 0.11]
    """
    return _trajectory(replace(protocol, steps=1), fineness).states(protocol.steps)


class _Trajectory:
    """The states of a network from step to step, computed as far as they were asked for."""

    def __init__(self, protocol: Protocol, fineness: int) -> None:
        self._protocol, self._fineness = protocol, fineness
        self._states = [NetworkState.at_initialisation(protocol.target)]

    def states(self, steps: int) -> tuple[NetworkState, ...]:
        """Return the states after the first `steps` steps."""
        while len(self._states) <= steps:
            state = Step(self._protocol, self._states[-1], self._fineness).take()
            check_weights(self._protocol, state.bulk_variance, state.spike_strength)
            self._states.append(state)
        return tuple(self._states[1 : steps + 1])


# Protocols that differ only in the number of their steps share the first ones.
_trajectory = lru_cache(maxsize=256)(_Trajectory)


def features_in_state(protocol: Protocol, state: NetworkState) -> SpikedFeatures:
    """Return the spiked random features of a protocol's network in some state."""
    return SpikedFeatures(
        activation=protocol.activation,
        target=protocol.target,
        bulk_variance=state.bulk_variance,
        spike_strength=state.spike_strength,
        alignment=state.alignment,
        beta=protocol.beta,
        noise=protocol.noise,
        inputs=protocol.inputs,
        outlier_fraction=protocol.outlier_fraction,
        outlier_variance=protocol.outlier_variance,
    )


def check_weights(protocol: Protocol, bulk_variance: float, spike_strength: float) -> None:
    """Refuse a protocol whose rows are longer after a step than features may have them.

    Parameters
    ----------
    protocol : Protocol
    bulk_variance, spike_strength : float
        Of the neurons with the longest rows.

    Raises
    ------
    InvalidParametersError
        For the learning rate.
    """
    if bulk_variance in BULK_VARIANCE and spike_strength in SPIKE_STRENGTH:
        return
    allowed = (
        "small enough (and noise, readout and steps small, beta and alpha0 large enough) that rows"
        f" have a squared norm of at most {BULK_VARIANCE.upper:g} after every step"
    )
    raise InvalidParametersError([Fault("learning_rate", protocol.learning_rate, allowed)])


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
    """

    def __init__(self, protocol: Protocol, state: NetworkState, fineness: int) -> None:
        self.protocol, self.state = protocol, state
        self.several = teacher_of(protocol.target) is not None
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
        mirrored = activation.parity == "odd" and _is_odd(srf.target)
        if mirrored:  # what happens at -kappa follows
            kappa, weight = kappa[kappa > 0], weight[kappa > 0]
        std = math.sqrt(state.bulk_variance)
        averages = activation_averages(activation, state.spike_strength * kappa, std, *rule)
        over_u = self._average_over_u(srf, kappa, averages.mean, rule)
        if mirrored:
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
        second, third, fourth = (
            second + variance * zeroth,
            third + 3 * variance * first,
            fourth + 6 * variance * second + of_noise * zeroth,
        )
        return np.stack([zeroth, first, second, third, fourth])

    def expect(self, power: int, values: Array) -> Array:
        """Compute E[rho^power values(kappa) (1, kappa, u)(1, kappa, u)^T], (D + 2, D + 2)."""
        mean: Array = self.residuals[power] @ (self.weight * values)
        return mean

    def mean(self, power: int, values: Array) -> float:
        """Compute E[rho^power values(kappa)]."""
        return float(self.residuals[power, 0, 0] @ (self.weight * values))

    def take(self) -> NetworkState:
        """Compute the state after the step."""
        rows, noise = self.linear_map(), self.batch_noise()
        before = np.zeros_like(noise)
        kept = np.delete(np.arange(len(before)), BATCH)
        before[np.ix_(kept, kept)] = self.state.covariance
        before[BATCH, BATCH] = self.state.bulk_variance
        # The noise of rows along their own batch direction is in `noise`, with all it acts on.
        of_batch = self.counted_twice(rows)
        noise -= self.state.bulk_variance * np.outer(of_batch, of_batch)
        covariance = rows @ before @ rows.T + noise
        directions = self.directions()
        turn = np.zeros((len(directions) + 1, len(before)))
        turn[:NORM, :NORM], turn[NORM, NORM] = directions, 1
        alignment = tuple(float(np.clip(one @ directions[0], -1, 1)) for one in self.targets)
        return NetworkState(
            bulk_variance=self.bulk_variance,
            spike_strength=float(np.linalg.norm(self.spike())),
            alignment=alignment if self.several else alignment[0],
            mean_row=self.mean_row(),
            covariance=turn @ covariance @ turn.T,
        )

    def counted_twice(self, rows: Array) -> Array:
        """Return what of the map acts on the batch's direction, and is in its noise as well."""
        of_batch = rows[:, BATCH].copy()
        of_batch[BATCH] = 0
        return of_batch

    @property
    def targets(self) -> Array:
        """The target's directions, along v, across it and along the batch's noise, (D, D + 2)."""
        a = np.atleast_1d(self.state.alignment)
        basis = across_basis(a) if self.several else np.array([[math.sqrt(1 - a.item() ** 2)]])
        return np.column_stack([a, basis, np.zeros(a.size)])

    def directions(self) -> Array:
        """Find the spike's direction after the step, and the target's across it.

        Shape (1 + D, D + 2). Those across the spike are the unit vectors nearest to the target's
        that are orthogonal to the spike and to one another. Where a target has no part across the
        spike, any such vector will do.
        """
        spike = self.spike()
        strength = float(np.linalg.norm(spike))
        along = spike / strength if strength > 0 else np.eye(spike.size)[0]
        return np.vstack([along, _across(self.targets, along)])

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
        among = self.expect(1, A.curvature)[1:, 1:]
        with_batch = self.along_batch * self.expect(2, A.slope * A.curvature)[0, 1:]
        own_batch = self.mean(1, A.curvature)
        own_batch += self.along_batch**2 * self.mean(3, A.slope**2 * A.curvature)
        rows = np.block([[among, with_batch[:, None]], [with_batch, np.array(own_batch)]])
        to_batch = self.along_batch * self.mean(2, A.slope * A.third)
        with_norm = np.array([*self.expect(1, A.third)[0, 1:], to_batch])
        own = e**2 * b / c_next
        full = np.eye(len(rows) + 1)
        full[:NORM, :NORM] += e * rows
        full[:NORM, NORM] = e * c / 2 * with_norm
        full[NORM, :NORM] = 2 * e * (c / c_next) * self.growth * with_norm
        full[NORM, :BATCH] += own * self.expect(2, A.variance_along)[0, 1:]
        full[NORM, NORM] = (c / c_next) * self.growth * (
            self.growth + e * c * self.mean(1, A.fourth)
        ) + own * self.mean(2, A.variance_with_norm)
        return full

    def batch_noise(self) -> Array:
        """Compute the covariance that the batch adds to a row's state, (D + 3, D + 3)."""
        b, A, c = self.inverse_batch, self.activation, self.state.bulk_variance
        with_norm = 2 * self.growth / self.bulk_variance
        among = self.expect(2, A.variance)[1:, 1:]
        noise = np.zeros((len(among) + 2, len(among) + 2))
        noise[:BATCH, :BATCH] = among
        noise[:BATCH, BATCH] = self.along_batch * self.expect(3, A.slope * A.variance)[0, 1:]
        noise[BATCH, BATCH] = self.mean(2, A.variance)
        noise[BATCH, BATCH] += self.along_batch**2 * self.mean(4, A.slope**2 * A.variance)
        noise[:BATCH, NORM] = with_norm * c * self.expect(2, A.variance_along)[0, 1:]
        square = 2 * c * A.variance_with_norm + c * A.variance - (c * A.curvature) ** 2
        noise[NORM, NORM] = with_norm**2 * self.mean(2, square)
        lower = np.tril_indices(len(noise), -1)
        noise[lower] = noise.T[lower]
        return self.rate**2 * b * noise


def _is_odd(target: str) -> bool:
    """Tell whether a target is an odd function of one direction."""
    return teacher_of(target) is None and lookup(target).parity == "odd"


def _across(targets: Array, along: Array) -> Array:
    """Find the unit vectors nearest to some directions that are orthogonal to one and each other.

    `directions` says more; shape (D, D + 2).
    """
    if len(targets) > 1:
        orthogonal = np.linalg.svd(along[None])[2][1:]
        left, _, right = np.linalg.svd(targets @ orthogonal.T, full_matrices=False)
        nearest: Array = left @ right @ orthogonal
        return nearest
    rest = targets - (targets @ along) * along
    size = np.linalg.norm(rest)
    if size > _ROUNDING:
        unit: Array = rest / size
        return unit
    return np.array([[-along[1], along[0], 0.0]])
