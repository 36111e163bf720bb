"""Rows after one step on inputs with a covariance: docs/theory/structured-inputs.md, (S7) to (S12).

Given the batch, whitened rows have the covariance D/d with D = Sigma + tau G B G, where
B = (1/n0) sum y^2 z z^T; without its fluctuations, as the isotropic bulk of the paper, it is
Sigma + nu G^2. All that the readout needs are traces and forms of Q = (1 + t D)^-1.
"""

from __future__ import annotations

import numpy as np

from giantstep.arrays import Array, RealOrComplex
from giantstep.theory.features.conditional_target import ALIGNED
from giantstep.theory.first_layer.odd_step import OddStep
from giantstep.theory.rows.batch_moments import BatchResolvent, DampedMoments
from giantstep.theory.rows.row_functions import Forms, as_columns


class AnisotropicRows:
    """Traces and forms of Q as functions of t.

    Parameters
    ----------
    step : OddStep
    trained : bool
        Whether D has the batch's own covariance, and rows have norms of their own.

    Attributes
    ----------
    norm_variance : float
        d times the variance of a row's squared norm.
    """

    def __init__(self, step: OddStep, trained: bool) -> None:
        self.step, self.g, self.trained = step, step.gains, trained
        moments, each = step.moments(), np.full(self.g.size, 1 / self.g.size)
        self.rows = BatchResolvent(step.eigenvalues, step.tau * self.g**2, each, moments)
        fourth_power = float(moments.power(4, np.ones(moments.squares.size)))
        self.norm_variance = step.norm_variance(fourth_power) if trained else 0.0

    def _resolvent(self, t: RealOrComplex) -> tuple[DampedMoments, RealOrComplex, RealOrComplex]:
        """Compute moments of the batch, and eigenvalues of D and Q, at S values of t."""
        return self.rows.at(t, self.rows.trace(t) if self.trained else 0 * t)

    def columns(self, t: Array) -> Array:
        """Compute the traces, of Q and D Q, and the forms at S values of t, as `as_columns`."""
        moments, bulk, Q = self._resolvent(t)
        forms = self._forms(t, moments, Q)
        filtered = (np.eye(2) - forms[:, :2, :2]) / t[:, None, None]
        return as_columns(Q.mean(axis=1), (bulk * Q).mean(axis=1), Forms(forms, filtered))

    def mean_row(self, t: RealOrComplex) -> RealOrComplex:
        """Compute tr (D_m - D) Q over its value at t = 0, shape (S,)."""
        excess, (_, _, Q) = self.step.mean_row().sum(axis=0), self._resolvent(t)
        return Q @ excess / (excess.sum() or 1.0)

    def _forms_of_means(self, t: Array, E: DampedMoments, Q: Array) -> Array:
        """Compute the forms of Q in the means of y z and y^3 z, times G, and t: (3, 3, S).

        Equations (S9) to (S11).
        """
        step = self.step
        j0, j1, j2 = (step.weights * self.g**k @ Q.T for k in range(3))
        x = t * step.tau * self.trained * (E[2, 2] - E[2, 0])
        along = np.array([E[1, 1], E[3, 1], 1 + 0 * t])
        noise = np.array([[E[2, 0], E[4, 0]], [E[4, 0], E[6, 0]]])
        forms = np.array([[j2, j2, j1], [j2, j2, j1], [j1, j1, -x * j1**2]]) / (1 + x * j2)
        forms *= along[:, None] * along
        forms[:2, :2] += noise * step.inverse_alpha0 * (Q * self.g**2).mean(axis=1)
        forms[2, 2] += j0
        return forms

    def _forms(self, t: Array, E: DampedMoments, Q: Array) -> Array:
        """Compute the forms of Q in the spike, the target across it, and a: (S, 3, 3).

        They follow from those in the means of y z and y^3 z over the batch, times G, and t.
        """
        step, forms = self.step, self._forms_of_means(t, E, Q)
        c, gamma, length = step.bulk_variance, step.alignment, step.length
        k, of_cubes, g = step.norm_couplings() if self.trained else (0.0, 0.0, 0.0)
        forms = forms - t * g / (1 + t * g * forms[0, 0]) * forms[:, :1] * forms[:1]
        rho = np.sqrt(max(0.0, 1 - gamma**2))
        across = np.array([-gamma / length, 0, 1]) / rho if rho > ALIGNED else np.zeros(3)
        turn = np.array([[1 / length, 0, 0], across, [k / c, of_cubes / c, 0]])
        turned: Array = np.einsum("ai,ijs,bj->sab", turn, forms, turn)
        turned[:, 1, 1] += Q.mean(axis=1) * (rho <= ALIGNED)
        return turned
