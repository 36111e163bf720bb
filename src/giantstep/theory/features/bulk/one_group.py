"""The variances of one group of neurons whose rows have any covariance C/d.

With t = beta V1_hat q they need only `phi(t) = tr C (1 + t C)^-1`, and `q (L + V1_hat phi(t)) = 1`
says that t is a function of L/V1_hat alone.
"""

from __future__ import annotations

import numpy as np

from giantstep.arrays import Array, RealOrComplex
from giantstep.numerics.newton import iterate_newton
from giantstep.theory.features.bulk.row_functions import RowFunctions
from giantstep.theory.features.bulk.row_resolvent import Traces

# Newton's method: most steps, the longest in log t, and one after which only rounding is left.
_MAX_ITERATIONS, _LONGEST_STEP, _TOLERANCE = 300, 3.0, 1e-8
# Where it starts from is interpolated between these values of -log t, in units of `beta/tr C`: half
# of them are below every solution's upper bound, however small beta is.
_STARTS = np.linspace(-15, 15, 3001)


class OneGroupVariances:
    """The map from the hats to V and T.

    Parameters
    ----------
    rows : RowFunctions
        Of the covariance C.
    beta : float
    """

    def __init__(self, rows: RowFunctions, beta: float) -> None:
        self.rows, self.beta = rows, beta
        t = np.exp(-_STARTS) * beta / rows.traces(np.zeros(1)).phi
        ratio = beta / t - rows.traces(t).phi
        reached = ratio > 0
        reached[0] |= not reached.any()  # what is not a number stays so
        self._log_t, self._log_ratio = np.log(t[reached]), np.log(ratio[reached])

    def variances(self, V1_hat: Array, L: Array) -> tuple[Array, Array]:
        """Map the hats, shape (S,), to V and T as `IsotropicBulk.variances` does."""
        return variances_at(V1_hat, L, self.rows.traces(self._solve(L / V1_hat)), self.beta)

    def _solve(self, ratio: Array) -> Array:
        """Solve `t (ratio + phi(t)) = beta` by Newton's method in log t.

        Its slope there is between zero and one. Steps are bounded, so that a flat stretch cannot
        throw the iteration away.
        """

        def advance(log_t: Array) -> tuple[Array, Array]:
            at = self.rows.traces(np.exp(log_t))
            load = ratio + at.phi
            gap = log_t + np.log(load / self.beta)
            step = -gap / (1 + at.t * at.dphi / load)
            return log_t + np.clip(step, -_LONGEST_STEP, _LONGEST_STEP), np.abs(step)

        start = np.interp(np.log(ratio), self._log_ratio, self._log_t)
        return np.exp(iterate_newton(advance, start, _TOLERANCE, _MAX_ITERATIONS))


def variances_at(
    A: RealOrComplex, L: RealOrComplex, at: Traces, beta: float
) -> tuple[RealOrComplex, RealOrComplex]:
    """Compute V and T from the traces at the t that belongs to L and A = V1_hat, shape (S,)."""
    q = 1 / (L + A * at.phi)
    slope = at.phi + at.t * at.dphi
    T20 = 1 / (1 / q**2 + beta * A**2 * at.dphi)
    T21 = slope * T20
    T22 = slope * T21 - beta * q**2 * at.dphi
    T = np.stack([T22, T21, T21, T20], axis=-1).reshape(-1, 2, 2)
    return np.stack([q * at.phi, q], axis=-1), T
