"""The resolvent of the rows' covariance after several steps, in closed form.

In the notation of `covariance_step`, the resolvent (1 + t C')^-1 is the first block of the inverse
of

    [ 1 + t D,  L        ]
    [ L,        -1/(t C) ]

to which each sample of the batch adds a 2 x 2 matrix times x x^T. As in any sample covariance
matrix, all samples together act like a 2 x 2 matrix, the self-energy, but in the two directions
that labels depend on. So the traces of the resolvent at t follow from those before the step, at
another t: docs/more-than-one-step.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, RealOrComplex
from giantstep.numerics.linear_systems import solve_pivoted
from giantstep.theory.features.bulk.covariance_step import CovarianceStep

# Iterations that approach the solution from afar, and Newton's method: most steps, the longest
# step in logarithms, and the step at which it has converged.
_DAMPED_ITERATIONS, _NEWTON_ITERATIONS, _LONGEST_STEP, _TOLERANCE = 8, 40, 1.0, 1e-11


class Traces(NamedTuple):
    """Normalised traces of the resolvent at some t, and their derivatives by t; shape (S,).

    Attributes
    ----------
    t : array
    f, phi : array
        Of `(1 + t C)^-1` and of `C (1 + t C)^-1`.
    df, dphi : array
    """

    t: RealOrComplex
    f: RealOrComplex
    phi: RealOrComplex
    df: RealOrComplex
    dphi: RealOrComplex


class SelfEnergy(NamedTuple):
    """What the samples of a step add up to at some t; arrays of shape (S,), or (S, N) by samples.

    Attributes
    ----------
    t, mixed_trace : array
        t, and alpha0 times the trace Gamma of the mixed block over n0.
    a, b, w : array
        The self-energy is `[a - 1, b - 1; b - 1, -w f'/alpha0]`, f' the trace after the step.
    first, mixed, second : array, shape (S, N)
        Its parts by samples.
    f, phi : array
        The traces of the resolvent after the step.
    before : Traces
    gap, jacobian : array, shapes (S, 3) and (S, 3, 3)
        By how much the equations fail, and the derivative by `mixed_trace`, t f' and `before.t`.
    by_t, by_f, by_phi : array, shape (S, 3)
        Their derivatives by t, and by the traces before the step.
    """

    t: RealOrComplex
    mixed_trace: RealOrComplex
    a: RealOrComplex
    b: RealOrComplex
    w: RealOrComplex
    first: RealOrComplex
    mixed: RealOrComplex
    second: RealOrComplex
    f: RealOrComplex
    phi: RealOrComplex
    before: Traces
    gap: RealOrComplex
    jacobian: RealOrComplex
    by_t: RealOrComplex
    by_f: RealOrComplex
    by_phi: RealOrComplex


def solve_self_energy(
    step: CovarianceStep, traces: Callable[[Array], Traces], t: Array
) -> SelfEnergy:
    """Solve for the self-energy of a step at some t > 0, shape (S,).

    Parameters
    ----------
    step : CovarianceStep
    traces : callable
        Those of the resolvent before the step, as functions of t.
    t : Array, shape (S,)
    """
    unchanged = traces(t)
    x = np.stack([t * unchanged.phi, t * unchanged.f, t], axis=-1)
    for _ in range(_DAMPED_ITERATIONS):
        at = self_energy(step, t, x, traces(x[:, 2]))
        x = np.stack([
            (x[:, 0] + at.b / at.a * t * at.before.phi) / 2,
            np.sqrt(x[:, 1] * t * at.f),
            np.sqrt(x[:, 2] * (t * at.b**2 / at.a + step.inverse_batch * x[:, 1] * at.w)),
        ], axis=-1)  # fmt: skip
    for _ in range(_NEWTON_ITERATIONS):
        at = self_energy(step, t, x, traces(x[:, 2]))
        change = -solve_pivoted(at.jacobian, at.gap)
        relative = change[:, 1:] / x[:, 1:]
        size = np.max(np.abs(relative), axis=-1, keepdims=True)
        share = np.minimum(1, _LONGEST_STEP / np.maximum(size, _TOLERANCE))
        x = np.concatenate(
            [x[:, :1] + share * change[:, :1], x[:, 1:] * np.exp(share * relative)], axis=-1
        )
        if not np.any(size > _TOLERANCE):
            break
    return self_energy(step, t, x, traces(x[:, 2]))


def self_energy(
    step: CovarianceStep, t: RealOrComplex, x: RealOrComplex, before: Traces
) -> SelfEnergy:
    """Evaluate the equations of a step.

    With eta and noise of a sample, and x = (G, theta, t_before),

        P = 1 + eta G/alpha0,    X = noise + eta^2 phi/alpha0,    1/D = P^2 + X theta/alpha0,
        a = 1 + t E X D,    b = 1 + E eta P D,    w = E eta^2 D,
        G = b t phi/a,    theta = t (f + w theta phi/alpha0)/a,
        t_before = t b^2/a + w theta/alpha0.
    """
    (eta, noise), W = (step.samples.eta, step.samples.noise), step.samples.weight
    inv, (G, theta, _), (t_before, f, phi, df, dphi) = (
        step.inverse_batch, np.moveaxis(x, -1, 0), before
    )  # fmt: skip
    reach = inv * theta
    P = 1 + (inv * G)[:, None] * eta
    X = noise + (inv * phi)[:, None] * eta**2
    D = 1 / (P**2 + reach[:, None] * X)
    XD, PD, qD = X * D, eta * P * D, eta**2 * D
    sigma, b, w = XD @ W, 1 + PD @ W, qD @ W
    a = 1 + t * sigma
    ratio, f_after = b / a, (f + reach * w * phi) / a
    # Derivatives by G, theta and phi.
    XP, Xq, Pq = (XD * PD) @ W, (XD * qD) @ W, (PD * qD) @ W
    da = inv * t * np.stack([-2 * XP, -(XD**2 @ W), w - reach * Xq])
    db = inv * np.stack([w - 2 * (PD**2 @ W), -XP, -reach * Pq])
    dw = inv * np.stack([-2 * Pq, -Xq, -reach * (qD**2 @ W)])
    one, zero = np.ones_like(t), np.zeros_like(t)
    by_theta = np.stack([zero, one, zero])
    by_phi = np.stack([zero, zero, one])
    dreach_w = inv * (w * by_theta + theta * dw)
    by = np.stack([
        np.stack([one, zero, zero]) - t / a * (phi * (db - ratio * da) + b * by_phi),
        by_theta - t / a * (phi * dreach_w + reach * w * by_phi - f_after * da),
        -t * ratio * (2 * db - ratio * da) - dreach_w,
    ])  # fmt: skip
    by_f = np.stack([zero, -t / a, zero])
    by_before = by[:, 2] * dphi + by_f * df + np.stack([zero, zero, one])
    gap = np.stack([
        G - ratio * t * phi, theta - t * f_after, t_before - t * b * ratio - reach * w
    ], axis=-1)  # fmt: skip
    jacobian = np.moveaxis(np.stack([by[:, 0], by[:, 1], by_before], axis=1), -1, 0)
    by_t = np.stack([-ratio * phi / a, -f_after / a, -(ratio**2)], axis=-1)
    return SelfEnergy(
        t=t,
        mixed_trace=G,
        a=a,
        b=b,
        w=w,
        first=t[:, None] * XD,
        mixed=PD,
        second=-(reach / t)[:, None] * qD,
        f=f_after,
        phi=sigma / a + ratio**2 * phi,
        before=before,
        gap=gap,
        jacobian=jacobian,
        by_t=by_t,
        by_f=by_f.T,
        by_phi=by[:, 2].T,
    )
