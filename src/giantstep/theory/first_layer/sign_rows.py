"""The covariance of the rows after a step by signs, for an odd activation: docs/sign-descent.md.

Over the neurons an entry of the gradient is Gaussian around its mean, so that an entry z of the
mean, in units of its standard deviation, decides what the sign does to it. Given the first batch
rows have the covariance `C = A + D B D` over d, where A and D are diagonal, functions of z, and B
is the second moment of the batch's inputs with weights y^2/E y^2. As the length of a step is fixed,
a longer one along the spike leaves less for the rest: the covariance of a row and |b|^2/c - 1 has
`-2 r (C - 1) v/c` beside that of plain descent.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erf

from giantstep.arrays import Array
from giantstep.numerics.newton import iterate_newton
from giantstep.numerics.quadrature import graded_edges, split_rule, unit_edges
from giantstep.theory.rows.first_batch import DampedMoments, FirstBatch
from giantstep.theory.rows.row_functions import Forms, RowFunctions, as_columns

_MAX_ITERATIONS, _TOLERANCE, _FIT_TOLERANCE = 100, 1e-14, 1e-10


class SignRows:
    """Averages over the entries z of the mean gradient.

    Parameters
    ----------
    batch : FirstBatch
        Of the step's part along the gradient.
    e : float
        Length of a step.
    fineness : int

    Attributes
    ----------
    weight, squared_gain, other : Array, shape (N,)
        Weights of a rule over z; D^2 and A.
    powers : Array, shape (3, 3, 3, N)
        D^j times the products of the vectors v, theta and n, for j = 0, 1, 2; n is the direction
        of the batch's noise.
    vectors : Array, shape (3, 3)
        The spike, the target across it, and the mean gradient in these.
    strength, bulk_variance : float
        r and c.
    """

    def __init__(self, batch: FirstBatch, e: float, fineness: int) -> None:
        # Squared, the mean over the noise of an entry of the gradient.
        k = math.sqrt(2 / math.pi * e**2 / (batch.tau * batch.label_power) - 1)
        z, weight = split_rule(unit_edges(graded_edges(0.0, 1 / k)), fineness)
        mean = erf(k * z / math.sqrt(2))
        size = math.sqrt(weight @ mean**2)
        D = e * math.sqrt(2 / math.pi) * np.exp(-((k * z) ** 2) / 2)
        gamma, rho = batch.alignment, math.sqrt(1 - batch.alignment**2)
        # By z, and by an entry across the mean gradient in the plane of theta and n.
        along = np.stack([mean / size, gamma * z, rho * z])
        across = np.array([0.0, rho, -gamma])
        products = along[:, None] * along + np.outer(across, across)[..., None]
        overlap = float(weight @ products[0, 1])
        beside = math.sqrt(1 - overlap**2)
        self.batch, self.weight, self.squared_gain = batch, weight, D**2
        self.other = 1 + e**2 * (1 - mean**2) - D**2
        self.powers = np.stack([products, D * products, D**2 * products])
        self.vectors = np.array([[1, 0, 0], [-overlap / beside, 1 / beside, 0], [0, gamma, rho]])
        self.strength, self.bulk_variance = e * size, 1 + e**2 * (1 - size**2)

    def functions(self) -> tuple[RowFunctions, float]:
        """Fit traces and forms of the resolvent; with d times the variance of |b|^2/c - 1."""
        *_, covariance = self._resolvents(np.zeros(1))
        c, r, own = self.bulk_variance, self.strength, self.batch.norm_coupling

        def columns(t: Array) -> Array:
            f, phi, R, filtered = self._resolvents(t)
            twice = (covariance - filtered)[:, 0, 0] / t
            shorter, longer = -2 * r / c, 2 * own / c
            resolvent = R.copy()
            moved = filtered[:, :, 0] - R[:, :, 0]
            resolvent[:, :2, 2] = shorter * moved[:, :2] + longer * R[:, :2, 2]
            resolvent[:, 2, :2] = resolvent[:, :2, 2]
            squares = shorter**2 * (twice - filtered[:, 0, 0] - moved[:, 0])
            mixed = 2 * shorter * longer * moved[:, 2]
            resolvent[:, 2, 2] = squares + longer**2 * R[:, 2, 2] + mixed
            return as_columns(f, phi, Forms(resolvent, filtered[:, :2, :2]))

        variance = c - 1 + own**2 + r**2 * (covariance[0, 0, 0] - 1)
        return RowFunctions.fitted(c, columns, _FIT_TOLERANCE), 4 * variance / c**2

    def _resolvents(self, t: Array) -> tuple[Array, Array, Array, Array]:
        """Compute traces and forms of `(1 + t C)^-1` and `C (1 + t C)^-1`, in `vectors`."""
        t = t[:, None]
        spread = self._spread(t)
        moments, power = self._moments(t * spread), self.batch.label_power
        g = moments.y2 / power
        diagonal = self.other + self.squared_gain * g
        Q = self.weight / (1 + t * diagonal)
        plain, mixed, W = np.einsum("jabn,sn->jsab", self.powers, Q)
        by_C = np.einsum("abn,sn->sab", self.powers[0], Q * diagonal)
        # What the inputs of the batch have along theta and along its noise n.
        x = self.batch.inverse_alpha0
        s2, ys, y2 = moments.y2s2 / power, moments.y3s / power**1.5, moments.y4 / power**2
        ys = self.batch.spike_sign * ys
        K = np.empty((t.size, 2, 2))
        K[:, 0, 0] = (s2 - g + x * t * spread * ys**2 / g)[:, 0]
        K[:, 0, 1] = K[:, 1, 0] = (math.sqrt(x) * ys / g)[:, 0]
        K[:, 1, 1] = (x * y2 / g)[:, 0]
        H = mixed[:, :, 1:]
        inner = np.linalg.solve(np.eye(2) + t[..., None] * K @ W[:, 1:, 1:], K)
        update = H @ inner @ H.transpose(0, 2, 1)
        T = self.vectors
        R, filtered = T @ (plain - t[..., None] * update) @ T.T, T @ (by_C + update) @ T.T
        return Q.sum(axis=1), (Q * diagonal).sum(axis=1), R, filtered

    def _spread(self, t: Array) -> Array:
        """Solve `spread = E D^2/(1 + t A + t D^2 g(spread))`, shape (S, 1), by Newton's method.

        From above: the right side is concave.
        """
        free, squared = 1 + t * self.other, self.squared_gain

        def advance(spread: Array) -> tuple[Array, Array]:
            w = t * spread
            g = self._moments(w).y2 / self.batch.label_power
            slope = self.batch.inverse_alpha0 * t * self._moments(w, 2).y4
            Q = squared / (free + t * squared * g)
            gap = spread - (Q @ self.weight)[:, None]
            turn = 1 - t * slope / self.batch.label_power**2 * (Q**2 @ self.weight)[:, None]
            return spread - gap / turn, np.abs(gap) / spread

        start = (squared / free) @ self.weight
        return iterate_newton(advance, start[:, None], _TOLERANCE, _MAX_ITERATIONS)

    def _moments(self, w: Array, factors: int = 1) -> DampedMoments:
        return self.batch.damped_moments(w / self.batch.label_power, factors)
