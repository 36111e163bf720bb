"""The resolvent of the rows' covariance after several steps, in closed form.

In the notation of `covariance_step`, the resolvent (1 + t C')^-1 is the first block of the inverse
of

    [ 1 + t D,  L        ]
    [ L,        -1/(t C) ]

to which each sample of the batch adds a 2 x 2 matrix times x x^T. As in any sample covariance
matrix, all samples together act like a 2 x 2 matrix, the self-energy, but in the two directions
that labels depend on. So the traces of the resolvent at t follow from those before the step, at
another t: theory.md section 13.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from giantstep.arrays import Array, RealOrComplex
from giantstep.numerics.linear_systems import solve_small
from giantstep.theory.first_layer.covariance_step import CovarianceStep
from giantstep.theory.rows.row_functions import Traces

# Iterations that approach the solution from afar, and Newton's method: most steps, the longest
# step in logarithms, and one after which only rounding is left.
_DAMPED_ITERATIONS, _NEWTON_ITERATIONS, _LONGEST_STEP, _TOLERANCE = 8, 40, 1.0, 3e-6


class SelfEnergy:
    """What the samples of a step add up to at some t; arrays of shape (S,), or (S, N) by samples.

    With eta and noise of a sample, and the unknowns x = (G, theta, t_before),

        P = 1 + eta G/alpha0,    X = noise + eta^2 phi/alpha0,    1/D = P^2 + X theta/alpha0,
        a = 1 + t E X D,    b = 1 + E eta P D,    w = E eta^2 D,
        G = b t phi/a,    theta = t (f + w theta phi/alpha0)/a,
        t_before = t b^2/a + w theta/alpha0.

    Attributes
    ----------
    t, mixed_trace : array
        t, and alpha0 times the trace Gamma of the mixed block over n0, which is G.
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

    def __init__(
        self, step: CovarianceStep, t: RealOrComplex, x: RealOrComplex, before: Traces
    ) -> None:
        inv, (G, theta, _), W = step.inverse_batch, np.moveaxis(x, -1, 0), step.weight
        t_before, f, phi, df, dphi = before
        reach, parts = inv * theta, _of_samples(step, x, phi)
        sigma, b, w = parts @ W
        by_points = parts.transpose(1, 0, 2)
        squares = (by_points * W) @ by_points.transpose(0, 2, 1)
        (XX, XP, Xq), (_, PP, Pq), (_, _, qq) = np.moveaxis(squares, 0, -1)
        a, b = 1 + t * sigma, 1 + b
        ratio, f_after = b / a, (f + reach * w * phi) / a
        self.t, self.mixed_trace, self.before = t, G, before
        self.a, self.b, self.w = a, b, w
        self.first, self.mixed = t[:, None] * parts[0], parts[1]
        self.second = -(reach / t)[:, None] * parts[2]
        self.f, self.phi = f_after, sigma / a + ratio**2 * phi
        # Derivatives by G, theta and phi.
        da = inv * t * np.stack([-2 * XP, -XX, w - reach * Xq])
        db = inv * np.stack([w - 2 * PP, -XP, -reach * Pq])
        dw = inv * np.stack([-2 * Pq, -Xq, -reach * qq])
        by_G, by_theta, by_phi = np.eye(3)[:, :, None]
        dreach_w = inv * (w * by_theta + theta * dw)
        by = np.stack([
            by_G - t / a * (phi * (db - ratio * da) + b * by_phi),
            by_theta - t / a * (phi * dreach_w + reach * w * by_phi - f_after * da),
            -t * ratio * (2 * db - ratio * da) - dreach_w,
        ])  # fmt: skip
        by_f = -t / a * by_theta
        by_before = by[:, 2] * dphi + by_f * df + by_phi
        self.gap = np.stack([
            G - ratio * t * phi, theta - t * f_after, t_before - t * b * ratio - reach * w
        ], axis=-1)  # fmt: skip
        self.jacobian = np.moveaxis(np.stack([by[:, 0], by[:, 1], by_before], axis=1), -1, 0)
        self.by_t = np.stack([-ratio * phi / a, -f_after / a, -(ratio**2)], axis=-1)
        self.by_f, self.by_phi = by_f.T, by[:, 2].T


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
    x = _approached(step, traces, t)
    for _ in range(_NEWTON_ITERATIONS):
        at = SelfEnergy(step, t, x, traces(x[:, 2]))
        change = -solve_small(at.jacobian, at.gap)
        relative = change[:, 1:] / x[:, 1:]
        size = np.max(np.abs(relative), axis=-1, keepdims=True)
        share = np.minimum(1, _LONGEST_STEP / np.maximum(size, _TOLERANCE))
        positive = x[:, 1:] * np.exp(share * relative)
        x = np.concatenate([x[:, :1] + share * change[:, :1], positive], axis=-1)
        if not np.any(size > _TOLERANCE):
            break
    return SelfEnergy(step, t, x, traces(x[:, 2]))


def _approached(step: CovarianceStep, traces: Callable[[Array], Traces], t: Array) -> Array:
    """Approach the unknowns of a step from afar, by damped iterations."""
    before = traces(t)
    x = np.stack([t * before.phi, t * before.f, t], axis=-1)
    for _ in range(_DAMPED_ITERATIONS):
        before = traces(x[:, 2])
        sigma, b, w = _of_samples(step, x, before.phi) @ step.weight
        reach, a, b = step.inverse_batch * x[:, 1], 1 + t * sigma, 1 + b
        x = np.stack([
            (x[:, 0] + b / a * t * before.phi) / 2,
            np.sqrt(x[:, 1] * t * (before.f + reach * w * before.phi) / a),
            np.sqrt(x[:, 2] * (t * b**2 / a + reach * w)),
        ], axis=-1)  # fmt: skip
    return x


def _of_samples(step: CovarianceStep, x: RealOrComplex, phi: RealOrComplex) -> RealOrComplex:
    """Compute X D, eta P D and eta^2 D of `SelfEnergy` for each sample, shape (3, S, N)."""
    eta, noise, inv = step.eta, step.noise, step.inverse_batch
    P, X = 1 + (inv * x[:, :1]) * eta, noise + (inv * phi)[:, None] * eta**2
    D = 1 / (P**2 + (inv * x[:, 1:2]) * X)
    return np.stack([X * D, eta * P * D, eta**2 * D])
