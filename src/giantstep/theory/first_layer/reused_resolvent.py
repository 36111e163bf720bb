"""The covariance that several steps on one batch give to the rows: docs/theory/reused-batch.md.

Given the batch, a row has linear dynamics. The rows' covariance C/d is a polynomial in the inputs
and in matrices that are diagonal in the samples. Its resolvent follows from a matrix G, the
solution of a fixed point. Its 2 k + 1 entries each way are, for one coordinate, the rows before and
after each of k steps, and k multipliers.
"""

from __future__ import annotations

import math

import numpy as np

from giantstep.arrays import Array, RealOrComplex
from giantstep.numerics.linear_systems import solve_small
from giantstep.numerics.newton import iterate_newton

# Newton's method: most steps, and one whose square is negligible.
_MAX_ITERATIONS, _TOLERANCE = 30, 1e-5


class ReusedResolvent:
    """The resolvent of the rows' covariance after k steps on one batch.

    In each of k steps a sample acts on a row with `tau = response eta + noise`, where eta are the
    row's projections on the sample, without the part that the row remembers of that sample.

    Parameters
    ----------
    samples : tuple of Array
        For the N samples of a rule: weights, of shape (N,); projections `along` the target's
        directions and a new one in each step, (N, D + k); pulls, its action on the mean row,
        whitened, (N, k); response, and noise by its covariance, (N, k, k).
    memory : Array, shape (k, k)
        The response of rows, before each step, to a unit drive in each step.
    rate, alpha0 : float
    """

    def __init__(
        self, samples: tuple[Array, ...], memory: Array, rate: float, alpha0: float
    ) -> None:
        self.weight, self.along, self.pulls, response, noise = samples
        self.alpha0, (N, k, _) = alpha0, response.shape
        self.last, self.order = k, 2 * k + 1
        steps = np.arange(k)
        self._J = np.zeros((N, 2 * k, self.order))
        self._J[:, steps, k + 1 + steps] = -rate / alpha0
        self._J[:, k:, :k] = -response
        seen = np.eye(k) + response @ memory / alpha0
        self._S = np.block([[0 * seen, seen.transpose(0, 2, 1)], [seen, -noise]])
        first, change = np.diag(np.eye(k + 1)[0]), np.eye(k, k + 1, 1) - np.eye(k, k + 1)
        self._free = np.block([[first, change.T], [change, np.zeros((k, k))]])

    def solve(self, t: Array) -> Array:
        """Solve for G at some t >= 0, one after the other, shape (S, 2 k + 1, 2 k + 1)."""
        solved, added = list[Array](), np.zeros(1)
        for now in t[:, None]:
            free = self._inverse(now)
            # What samples add changes little between points that are close.
            solved.append(self._newton(now, np.linalg.inv(free - added)))
            added = free - np.linalg.inv(solved[-1])
        return np.concatenate(solved)

    def _newton(self, t: Array, G: RealOrComplex) -> RealOrComplex:
        def advance(G: RealOrComplex) -> tuple[RealOrComplex, Array]:
            mapped, slope = self.map(t, G)
            step = solve_small(np.eye(self.order**2) - slope, (mapped - G).reshape(1, -1))
            return G + step.reshape(G.shape), np.abs(step) / np.abs(G).max()

        return iterate_newton(advance, G, _TOLERANCE, _MAX_ITERATIONS)

    def map(self, t: RealOrComplex, G: RealOrComplex) -> tuple[RealOrComplex, RealOrComplex]:
        """Apply the map whose fixed point is G, and its derivative, (S, (2k + 1)^2, (2k + 1)^2)."""
        m, V = self.order, [self._of_samples(one).reshape(self.weight.size, -1) for one in G]
        mean = np.stack([self.weight @ one for one in V]).reshape(G.shape)
        pairs = np.stack([(one.T * self.weight) @ one for one in V]).reshape(t.size, m, m, m, m)
        mapped = np.linalg.inv(self._inverse(t) - self.alpha0 * mean)
        both = np.einsum("sab,scd->sacbd", mapped, mapped).reshape(t.size, m * m, m * m)
        return mapped, self.alpha0 * both @ pairs.swapaxes(2, 3).reshape(t.size, m * m, m * m)

    def forms(self, t: Array, G: Array, basis: Array) -> Array:
        """Compute the quadratic forms of `C (1 + t C)^-1` in some directions.

        Parameters
        ----------
        t : Array, shape (S,)
        G : Array, shape (S, 2 k + 1, 2 k + 1)
            As `solve` returns it.
        basis : Array, shape (M, D + k)
            The directions, in those of `along`.

        Returns
        -------
        Array, shape (S, M, M)
        """
        n, k, m, alpha0 = self.along.shape[1], self.last, self.order, self.alpha0
        fields = np.hstack([self.along, self.pulls / math.sqrt(alpha0)])
        N, weight = len(fields), alpha0 * self.weight
        weighted = (fields[:, :, None] * fields[:, None]).reshape(N, -1).T * weight
        fresh, other = np.arange(n), np.arange(n, n + k)
        forms = []
        for free, one in zip(self._inverse(t), G, strict=True):
            V = self._of_samples(one).reshape(N, -1)
            M = -(weighted @ V).reshape(n + k, n + k, m, m)
            M[fresh, fresh] += free
            # The last step's own noise, which no field has seen.
            M[n - 1, n - 1] -= (weight @ V).reshape(m, m)
            M[other, other] -= np.linalg.inv(one)
            inverse = np.linalg.inv(M.transpose(0, 2, 1, 3).reshape((n + k) * m, -1))
            inverse = inverse.reshape(n + k, m, n + k, m)[:n, k, :n, k]
            forms.append(basis @ inverse @ basis.T)
        return np.stack(forms)

    def _inverse(self, t: RealOrComplex) -> RealOrComplex:
        """Return the inverse of G without the batch."""
        A = np.tile(self._free.astype(t.dtype), (t.size, 1, 1))
        A[:, self.last, self.last] += t
        return A

    def _of_samples(self, G: RealOrComplex) -> RealOrComplex:
        """Compute what each sample adds to that at one t, shape (N, 2 k + 1, 2 k + 1)."""
        J, JT = self._J, self._J.transpose(0, 2, 1)
        return JT @ np.linalg.solve(self._S - J @ G @ JT, J)
