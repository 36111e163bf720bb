"""The resolvent of the rows' covariance after several steps, in closed form.

In the notation of `covariance_step`, the resolvent (1 + t C')^-1 is the first block of the inverse
of

    [ 1 + t D,  L        ]
    [ L,        -1/(t C) ]

to which each sample of the batch adds a 2 x 2 matrix times x x^T. As in any sample covariance
matrix, all samples together act like a 2 x 2 matrix, the self-energy, except in the directions on
which labels depend. So the traces of the resolvent at t follow from those before the step, at
another t: theory.md section 13.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from giantstep.arrays import Array, RealOrComplex
from giantstep.numerics.linear_systems import solve_small
from giantstep.numerics.newton import iterate_newton
from giantstep.theory.first_layer.covariance_step import CovarianceStep
from giantstep.theory.rows.row_functions import Traces

# Number of damped iterations, which approach the solution from afar. Of Newton's method: most
# steps, the longest step in logarithms, and the size of a step after which only rounding is left.
_DAMPED_ITERATIONS, _NEWTON_ITERATIONS, _LONGEST_STEP, _TOLERANCE = 8, 40, 1.0, 3e-6


class SelfEnergy:
    """The self-energy of the samples of a step at some t; arrays of shape (S,), or (S, N).

    With eta and noise of a sample, and the unknowns x = (G, theta, t_before),

        P = 1 + eta G/alpha0,    X = noise + eta^2 phi/alpha0,    1/D = P^2 + X theta/alpha0,
        a = 1 + t E X D,    b = kept + E eta P D,    w = E eta^2 D,
        G = b t phi/a,    theta = t (f + w theta phi/alpha0)/a,
        t_before = t b^2/a + w theta/alpha0.

    Attributes
    ----------
    t, mixed_trace : array
        t, and alpha0 times the trace Gamma of the mixed block over n0, which is G.
    a, b, w : array
        The self-energy is `[a - 1, b - kept; b - kept, -w f'/alpha0]`, f' the trace after the step.
    ratio, reach : array
        b/a, and theta/alpha0.
    parts : array, shape (3, S, N)
        X D, eta P D and eta^2 D.
    f, phi : array
        The traces of the resolvent after the step.
    before : Traces
    gap : array, shape (S, 3)
        By how much the equations fail.
    """

    def __init__(
        self, step: CovarianceStep, t: RealOrComplex, x: RealOrComplex, before: Traces
    ) -> None:
        eta, inv, (G, theta, t_before) = step.eta, step.inverse_alpha0, np.moveaxis(x, -1, 0)
        P, X = 1 + np.outer(inv * G, eta), step.noise + np.outer(inv * before.phi, eta**2)
        D = 1 / (P**2 + (inv * theta)[:, None] * X)
        self.step, self.t, self.mixed_trace, self.before = step, t, G, before
        self.parts: RealOrComplex = np.stack([X * D, eta * P * D, eta**2 * D])
        sigma, b, self.w = self.parts @ step.weight
        self.a, self.b, self.reach = 1 + t * sigma, step.kept + b, inv * theta
        self.ratio = self.b / self.a
        self.f = (before.f + self.reach * self.w * before.phi) / self.a
        self.phi = sigma / self.a + self.ratio**2 * before.phi
        self.gap = np.stack([
            G - self.ratio * t * before.phi,
            theta - t * self.f,
            t_before - t * self.b * self.ratio - self.reach * self.w,
        ], axis=-1)  # fmt: skip

    def derivatives(self) -> tuple[RealOrComplex, ...]:
        """Compute the derivatives of `gap`.

        Returns
        -------
        jacobian : array, shape (S, 3, 3)
            By the unknowns, on which the traces before the step depend.
        by_t, by_f, by_phi : array, shape (S, 3)
            By t, and by these traces.
        """
        t, a, w, ratio, reach = self.t, self.a, self.w, self.ratio, self.reach
        inv, (_, _, phi, df, dphi) = self.step.inverse_alpha0, self.before
        by_points = self.parts.transpose(1, 0, 2)
        squares = (by_points * self.step.weight) @ by_points.transpose(0, 2, 1)
        (XX, XP, Xq), (_, PP, Pq), (_, _, qq) = np.moveaxis(squares, 0, -1)
        # Derivatives by G, theta and phi.
        da = inv * t * np.stack([-2 * XP, -XX, w - reach * Xq])
        db = inv * np.stack([w - 2 * PP, -XP, -reach * Pq])
        dw = inv * np.stack([-2 * Pq, -Xq, -reach * qq])
        by_G, by_theta, by_phi = np.eye(3)[:, :, None]
        dreach_w = inv * w * by_theta + reach * dw
        by = np.stack([
            by_G - t / a * (phi * (db - ratio * da) + self.b * by_phi),
            by_theta - t / a * (phi * dreach_w + reach * w * by_phi - self.f * da),
            -t * ratio * (2 * db - ratio * da) - dreach_w,
        ])  # fmt: skip
        by_f, by_t = -t / a * by_theta, np.stack([-ratio * phi / a, -self.f / a, -(ratio**2)])
        by_before = by[:, 2] * dphi + by_f * df + by_phi
        jacobian = np.moveaxis(np.stack([by[:, 0], by[:, 1], by_before], axis=1), -1, 0)
        return jacobian, by_t.T, by_f.T, by[:, 2].T


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
    before = traces(t)
    x = np.stack([t * before.phi, t * before.f, t], axis=-1)
    for _ in range(_DAMPED_ITERATIONS):
        mapped = x - SelfEnergy(step, t, x, traces(x[:, 2])).gap
        x = np.column_stack([(x[:, 0] + mapped[:, 0]) / 2, np.sqrt(x[:, 1:] * mapped[:, 1:])])

    def advance(x: Array) -> tuple[Array, Array]:
        at = SelfEnergy(step, t, x, traces(x[:, 2]))
        change = -solve_small(at.derivatives()[0], at.gap)
        relative = change[:, 1:] / x[:, 1:]
        size = np.max(np.abs(relative), axis=-1, keepdims=True)
        share = np.minimum(1, _LONGEST_STEP / np.maximum(size, _TOLERANCE))
        positive = x[:, 1:] * np.exp(share * relative)
        return np.concatenate([x[:, :1] + share * change[:, :1], positive], axis=-1), size

    x = iterate_newton(advance, x, _TOLERANCE, _NEWTON_ITERATIONS)
    return SelfEnergy(step, t, x, traces(x[:, 2]))
