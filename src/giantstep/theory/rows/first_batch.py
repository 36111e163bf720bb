"""The first batch, as far as rows remember it: theory.md section 9.

Given the batch, a row of the bulk that belongs to a neuron with readout omega has covariance
`(I + omega^2 tau B)/d`, where `B = (1/n0) sum y^2 x x^T`. The theory needs limits of the resolvents
`Z_k = 1/(1 + ell_k B)` of the random matrix B: normalised traces of `B^j Z_k` and `B^j Z_k Z_l`,
and the quadratic forms of these matrices in two directions, the spike v and the unit vector
orthogonal to v in the plane of v and the target. One scalar equation for `f_k = tr Z_k` determines
them all in closed form. Those of pairs are divided differences, written so that they are exact
where ell_k = ell_l. Traces are sums of positive terms.
"""

from __future__ import annotations

import math
from copy import copy
from functools import cached_property
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, RealOrComplex
from giantstep.numerics.differences import with_slope
from giantstep.numerics.function_table import ScalarFunction
from giantstep.numerics.gaussian import derivative_variance, mean_derivatives, standard_moments
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.problem import label_agreement, noise_levels, noise_power
from giantstep.problems.protocol import Protocol
from giantstep.problems.readout import Vocabulary
from giantstep.theory.rows.batch_moments import BatchMoments, BatchResolvent, DampedMoments
from giantstep.theory.rows.label_rule import label_rule, label_rule_on_path

# Where ell differ relatively by less, a difference is replaced by the slope in the middle.
_NEAR = 3e-5
# A Hermite coefficient of the activation below this is zero by symmetry.
_ROUNDING = 1e-12


class BatchTraces(NamedTuple):
    """Normalised traces of resolvents of B.

    Attributes
    ----------
    powers : tuple of Array, shape (S, R)
        Traces of B^j Z_k for j = 0, 1, 2.
    damped : DampedMoments
    """

    powers: tuple[RealOrComplex, ...]
    damped: DampedMoments


class FirstBatch:
    """The first batch, as far as the trained weights remember it: equations (9)-(12).

    Parameters
    ----------
    protocol : Protocol
        With an odd activation, alpha0 > 0 and one step.
    fineness : int
        Multiplies the number of nodes of the rule over y.

    Attributes
    ----------
    rate, inverse_alpha0 : float
        e = learning_rate/beta, and 1/alpha0.
    slope, third : float
        E sigma' and b3 = E sigma He_3.
    label_power : float
        E y^2.
    spike_sign : float
        +1 or -1: the sign of v along the mean of y x, that of the slope, so that r >= 0.
    tau : float
        e^2 hcheck^2/alpha0: B enters the covariance of a row with weight omega^2 tau.
    bulk_variance, strength, alignment : float
        c, r and gamma = v . theta, for omega = 1.
    norm_coupling : float
        A neuron's step along its own weights is this times its overlap with the spike.
    turn : Array, shape (2, 2 + others)
        The spike and the target across it, in terms of the target of the step, the batch's noise
        and, if there is a third column, a generic direction.
    """

    def __init__(self, protocol: Protocol, fineness: int = 1) -> None:
        self._protocol, self._fineness = protocol, fineness
        activation, teacher = lookup(protocol.activation), standard_moments(lookup(protocol.target))
        self.rate, self.inverse_alpha0 = protocol.learning_rate / protocol.beta, 1 / protocol.alpha0
        # A coefficient that vanishes by symmetry is computed as rounding, whose sign means nothing.
        self.slope, self.third, signal = (
            0.0 if abs(h) < _ROUNDING else h
            for h in (
                float(standard_moments(activation).slope),
                mean_derivatives(activation, 3)[3],
                label_agreement(protocol) * float(teacher.slope),
            )
        )
        self.label_power = float(teacher.second) + noise_power(protocol)
        length = math.hypot(signal, math.sqrt(self.label_power * self.inverse_alpha0))
        self.spike_sign = math.copysign(1.0, self.slope)
        self.tau = self.rate**2 * derivative_variance(activation) * self.inverse_alpha0
        self.bulk_variance = 1 + self.tau * self.label_power
        self.strength = abs(self.rate * self.slope) * length
        gamma = min(1.0, max(-1.0, signal / length)) if length > 0 else 0.0
        self.alignment = gamma = self.spike_sign * gamma
        self.norm_coupling = self.spike_sign * self.rate * self.third * length
        rho = math.sqrt(1 - gamma**2)
        self.turn = np.array([[gamma, rho], [rho, -gamma]])

    @cached_property
    def moments(self) -> BatchMoments:
        """Averages over its samples."""
        rule = label_rule(*self._labels, self._fineness)
        return BatchMoments(*rule, label_agreement(self._protocol), self.inverse_alpha0)

    @property
    def _labels(self) -> tuple[ScalarFunction, Vocabulary, float]:
        """Target, noise and the largest factor on y^2 in averages over labels."""
        largest = max(abs(omega) for omega, _ in self._protocol.readout)
        sharpness = largest**2 * self.tau * self.inverse_alpha0
        return lookup(self._protocol.target), noise_levels(self._protocol), sharpness

    def on_path(self) -> FirstBatch:
        """Describe it by labels on `label_path`, for traces at complex ell."""
        rule = label_rule_on_path(*self._labels)
        agreement = label_agreement(self._protocol)
        return self._changed(moments=BatchMoments(*rule, agreement, self.inverse_alpha0))

    def turned(self, turn: Array) -> FirstBatch:
        """Describe it in another basis; the turn is as in `RowFunctions.turned`."""
        known, other = turn[:, :-1] @ self.turn, turn[:, -1:]
        return self._changed(turn=np.hstack([known, other]))

    def _changed(self, **attributes: Array | BatchMoments) -> FirstBatch:
        changed = copy(self)
        vars(changed).update(attributes)
        return changed

    def resolvent_trace(self, ell: RealOrComplex, f: RealOrComplex | None = None) -> RealOrComplex:
        """Solve `f (1 + ell E[y^2/(1 + ell f y^2/alpha0)]) = 1` for f = tr Z, shape (S, R).

        For complex ell it starts from some f nearby.
        """
        resolvent = BatchResolvent(np.zeros(1), np.ones(1), np.ones(1), self.moments)
        return resolvent.spread(ell, f)

    def traces(self, ell: RealOrComplex, near: RealOrComplex | None = None) -> BatchTraces:
        """Compute tr B^j Z_k for j = 0, 1, 2, shapes (S, R).

        Parameters
        ----------
        ell : array, shape (S, R)
        near : array, shape (S, R), optional
            Traces tr Z at a nearby ell, which complex ones need.
        """
        f = self.resolvent_trace(ell, near)
        E = self.moments.damped(self.moments.damping(ell * f))
        return BatchTraces((f, f * E[2, 0], f * (E[2, 0] ** 2 + self.inverse_alpha0 * E[4, 0])), E)

    def pair_traces(self, ell: RealOrComplex, single: BatchTraces) -> RealOrComplex:
        """Compute tr B^j Z_k Z_l for j = 0 ... 3, shape (4, S, R, R)."""
        f, P, _ = single.powers
        damping = self.moments.damping(ell * f)
        E = self.moments.damped(damping[:, :, None] * damping[:, None])
        f_k, f_l, P_l, x = f[:, :, None], f[:, None], P[:, None], self.inverse_alpha0
        f0 = f_l / (1 + ell[:, :, None] * E[2, 0])
        f1 = E[2, 0] * f0
        f2 = E[2, 0] * f1 + x * f_k * f_l * E[4, 0]
        f3 = f1 * E[2, 0]**2 + x * f_k * (
            (2 * E[2, 0] * f_l + P_l) * E[4, 0]
            + x * f_l * (ell[:, None] * f_l * E[4, 0]**2 + E[6, 0])
        )  # fmt: skip
        return np.stack([f0, f1, f2, f3])

    def forms(self, ell: RealOrComplex, single: BatchTraces) -> tuple[RealOrComplex, RealOrComplex]:
        """Compute quadratic forms of Z_k and B Z_k in (v, across v), shapes (S, R, 2, 2)."""
        f, P, A = single.powers
        E, x = single.damped, self.inverse_alpha0
        F = 1 / (1 + ell * E[2, 2])
        J = f * E[3, 1]
        H = ell * J
        of_Z = self._rotated(f, F, -F * H, P + x * F * H**2)
        return of_Z, self._rotated(P, F * E[2, 2], F * J, A - x * F * H * J)

    def pair_forms(self, ell: Array) -> Array:
        """Compute quadratic forms of B^j Z_k Z_l, j = 0, 1, 2, shape (3, S, R, R, 2, 2).

        They are divided differences of forms of ell Z, -Z and -B Z, and slopes where two ell
        are so near that differences would be rounding.
        """

        def of_single(ell: RealOrComplex) -> RealOrComplex:
            Z, BZ = self.forms(ell, self.traces(ell, self.resolvent_trace(ell.real)))
            return np.stack([ell[..., None, None] * Z, -Z, -BZ])

        first, second = ell[:, :, None], ell[:, None]
        total, gap = first + second, first - second
        near = (np.abs(gap) <= _NEAR * total)[..., None, None]
        values = of_single(ell)
        _, slopes = with_slope(of_single, total.reshape(len(ell), -1) / 2)
        gap = np.where(near, 1, gap[..., None, None])
        divided = (values[:, :, :, None] - values[:, :, None]) / gap
        return np.where(near, slopes.reshape(divided.shape), divided)

    def _rotated(
        self, trace: RealOrComplex, along: RealOrComplex, mixed: RealOrComplex, noise: RealOrComplex
    ) -> RealOrComplex:
        """Rotate quadratic forms from (theta, the batch's noise) to (v, across v).

        The mean of y x over the batch is `E[y s] theta` plus, at right angles to it, noise of
        squared norm `E[y^2]/alpha0`. The spike is the direction of that mean, so the two pairs of
        directions differ by a rotation.

        Parameters
        ----------
        trace : Array
            Form in any other direction.
        along : Array
            Form in theta.
        mixed : Array
            Form between theta and the noise, times `sqrt(alpha0 E y^2)`.
        noise : Array
            Form in the noise, times E y^2.
        """
        mixed = self.spike_sign * math.sqrt(self.inverse_alpha0 / self.label_power) * mixed
        forms = np.stack([along, mixed, mixed, noise / self.label_power], axis=-1)
        known, other = self.turn[:, :2], self.turn[:, 2:]
        turned = known @ forms.reshape(*trace.shape, 2, 2) @ known.T
        return turned + trace[..., None, None] * (other @ other.T)
