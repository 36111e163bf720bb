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
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, RealOrComplex
from giantstep.numerics.differences import with_slope
from giantstep.theory.rows.batch_moments import BatchMoments, BatchResolvent, DampedMoments

# Where ell differ relatively by less, a difference is replaced by the slope in the middle.
_NEAR = 3e-5


class BatchTraces(NamedTuple):
    """Normalised traces of resolvents of B.

    Attributes
    ----------
    ell : Array, shape (S, R)
    powers : tuple of Array, shape (S, R)
        Traces of B^j Z_k for j = 0, 1, 2.
    damping, damped : Array and DampedMoments
        At each ell.
    """

    ell: RealOrComplex
    powers: tuple[RealOrComplex, ...]
    damping: RealOrComplex
    damped: DampedMoments


@dataclass(frozen=True, eq=False)
class FirstBatch:
    """The first batch, as far as the trained weights remember it.

    Attributes
    ----------
    moments : BatchMoments
        Averages over its samples.
    moments_on_path : callable
        Makes the same with labels on `complex_path`, for traces at complex ell.
    label_power : float
        E y^2.
    turn : Array, shape (2, 2 + others)
        The spike and the target across it, in terms of the target of the step, the batch's noise
        and, if there are further columns, generic directions.
    """

    moments: BatchMoments
    moments_on_path: Callable[[], BatchMoments]
    label_power: float
    turn: Array

    def on_path(self) -> FirstBatch:
        """Describe it by labels on the path."""
        return replace(self, moments=self.moments_on_path())

    def turned(self, turn: Array) -> FirstBatch:
        """Describe it in another basis; the turn is as in `RowFunctions.turned`."""
        return replace(self, turn=np.hstack([turn[:, :2] @ self.turn, turn[:, 2:]]))

    def traces(self, ell: RealOrComplex, near: RealOrComplex | None = None) -> BatchTraces:
        """Compute tr B^j Z_k for j = 0, 1, 2, shapes (S, R).

        Parameters
        ----------
        ell : array, shape (S, R)
        near : array, shape (S, R), optional
            Traces tr Z at a nearby ell, which complex ones need.
        """
        # f (1 + ell E[y^2/(1 + ell f y^2/alpha0)]) = 1
        f = BatchResolvent(np.zeros(1), np.ones(1), np.ones(1), self.moments).trace(ell, near)
        damping = self.moments.damping(ell * f)
        E = self.moments.damped(damping)
        A = f * (E[2, 0] ** 2 + self.moments.inverse_alpha0 * E[4, 0])
        return BatchTraces(ell, (f, f * E[2, 0], A), damping, E)

    def pair_traces(self, one: BatchTraces, other: BatchTraces) -> RealOrComplex:
        """Compute tr B^j Z_k Z_l for j = 0 ... 3, k of one and l of the other, (4, S, R, R)."""
        E = self.moments.damped(one.damping[:, :, None] * other.damping[:, None])
        f_k, x, ell_l = one.powers[0][:, :, None], self.moments.inverse_alpha0, other.ell[:, None]
        f_l, P_l, _ = (power[:, None] for power in other.powers)
        f0 = f_l / (1 + one.ell[:, :, None] * E[2, 0])
        f1 = E[2, 0] * f0
        f2 = E[2, 0] * f1 + x * f_k * f_l * E[4, 0]
        f3 = f1 * E[2, 0]**2 + x * f_k * (
            (2 * E[2, 0] * f_l + P_l) * E[4, 0]
            + x * f_l * (ell_l * f_l * E[4, 0]**2 + E[6, 0])
        )  # fmt: skip
        return np.stack([f0, f1, f2, f3])

    def forms(self, at: BatchTraces) -> tuple[RealOrComplex, RealOrComplex]:
        """Compute quadratic forms of Z_k and B Z_k in (v, across v), shapes (S, R, 2, 2)."""
        (f, P, A), ell, E, x = at.powers, at.ell, at.damped, self.moments.inverse_alpha0
        F = 1 / (1 + ell * E[2, 2])
        J = f * E[3, 1]
        H = ell * J
        of_Z = self._rotated(f, F, -F * H, P + x * F * H**2)
        return of_Z, self._rotated(P, F * E[2, 2], F * J, A - x * F * H * J)

    def pair_forms(self, one: BatchTraces, other: BatchTraces) -> Array:
        """Compute quadratic forms of B^j Z_k Z_l, j = 0, 1, 2, shape (3, S, R, R, 2, 2).

        They are divided differences of forms of ell Z, -Z and -B Z, and slopes where two ell
        are so near that differences would be rounding.
        """

        def of_single(ell: RealOrComplex) -> RealOrComplex:
            Z, BZ = self.forms(self.traces(ell, self.traces(ell.real).powers[0]))
            return np.stack([ell[..., None, None] * Z, -Z, -BZ])

        first, second = one.ell[:, :, None], other.ell[:, None]
        total, gap = first + second, first - second
        near = (np.abs(gap) <= _NEAR * total)[..., None, None]
        _, slopes = with_slope(of_single, total.reshape(len(total), -1) / 2)
        gap = np.where(near, 1, gap[..., None, None])
        divided = (of_single(one.ell)[:, :, :, None] - of_single(other.ell)[:, :, None]) / gap
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
        mixed = math.sqrt(self.moments.inverse_alpha0 / self.label_power) * mixed
        forms = np.stack([along, mixed, mixed, noise / self.label_power], axis=-1)
        known, other = self.turn[:, :2], self.turn[:, 2:]
        turned = known @ forms.reshape(*trace.shape, 2, 2) @ known.T
        return turned + trace[..., None, None] * (other @ other.T)
