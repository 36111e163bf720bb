"""The covariance of the rows after a step by signs, for an odd activation: docs/sign-descent.md.

Over the neurons an entry of the gradient is Gaussian around its mean, so that an entry z of the
mean, in units of its standard deviation, decides what the sign does to it. Given the first batch
rows have the covariance `C = A + D B D` over d, where A and D are diagonal, functions of z
(`batch_moments`). As the length of a step is fixed,
a longer one along the spike leaves less for the rest: the covariance of a row and |b|^2/c - 1 has
`-2 r (C - 1) v/c` beside that of plain descent.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erf

from giantstep.arrays import Array
from giantstep.numerics.quadrature import graded_edges, split_rule, unit_edges
from giantstep.theory.rows.batch_moments import BatchResolvent
from giantstep.theory.rows.first_batch import FirstBatch
from giantstep.theory.rows.row_functions import Forms, RowFunctions, as_columns

_TOLERANCE = 1e-10


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
    rows : BatchResolvent
        On a rule over z.
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
        self.batch, own = batch, 1 + e**2 * (1 - mean**2) - D**2
        D = D / math.sqrt(batch.label_power)
        self.rows = BatchResolvent(own, D**2, weight, batch.moments)
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
        return RowFunctions.fitted(c, columns, _TOLERANCE), 4 * variance / c**2

    def _resolvents(self, t: Array) -> tuple[Array, Array, Array, Array]:
        """Compute traces and forms of `(1 + t C)^-1` and `C (1 + t C)^-1`, in `vectors`."""
        spread = self.rows.spread(t)
        E, diagonal, Q = self.rows.at(t, spread)
        Q = self.rows.weight * Q
        plain, mixed, W = np.einsum("jabn,sn->jsab", self.powers, Q)
        by_C = np.einsum("abn,sn->sab", self.powers[0], Q * diagonal)
        # What the inputs of the batch have along theta and along its noise n.
        x = self.batch.inverse_alpha0
        t = t[:, None, None]
        K = np.empty((spread.size, 2, 2))
        K[:, 0, 0] = E[2, 2] - E[2, 0] + x * t[:, 0, 0] * spread * E[3, 1] ** 2 / E[2, 0]
        K[:, 0, 1] = (
            self.batch.spike_sign * math.sqrt(x * self.batch.label_power) * E[3, 1] / E[2, 0]
        )
        K[:, 1, 0], K[:, 1, 1] = K[:, 0, 1], x * E[4, 0] / E[2, 0]
        H = mixed[:, :, 1:]
        inner = np.linalg.solve(np.eye(2) + t * K @ W[:, 1:, 1:], K)
        update = H @ inner @ H.transpose(0, 2, 1)
        T = self.vectors
        R, filtered = T @ (plain - t * update) @ T.T, T @ (by_C + update) @ T.T
        return Q.sum(axis=1), (Q * diagonal).sum(axis=1), R, filtered
