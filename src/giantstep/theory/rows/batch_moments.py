"""Averages over the samples of a batch, and what they make of rows: docs/theory/trained-bulk.md.

A sample has the label y and the projection s on the target. In averages over samples, the resolvent
of the rows damps large labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, RealOrComplex
from giantstep.numerics.linear_systems import TINY
from giantstep.numerics.newton import iterate_newton

# Expectations of powers of y and s, E[y^i s^j] at (i, j), times factors 1/(1 + w y^2/alpha0).
DampedMoments = dict[tuple[int, int], RealOrComplex]
# The powers that are needed.
_POWERS = (1, 1), (2, 0), (4, 0), (6, 0), (2, 2), (4, 2), (3, 1), (5, 1)
# Newton's method for the trace: most steps, and one after which only rounding is left.
_ITERATIONS, _SHORT_STEP = 100, 1e-10


class BatchMoments:
    """The samples of a batch on the N nodes of a rule.

    Parameters
    ----------
    y : array, shape (N,)
    weights : array, shape (3, N)
        Weights times 1, s and s^2, where s belongs to labels that are not reversed.
    agreement : float
        The mean sign of the target in a label.
    inverse_alpha0 : float
    """

    def __init__(
        self, y: RealOrComplex, weights: RealOrComplex, agreement: float, inverse_alpha0: float
    ) -> None:
        self.squares, self.inverse_alpha0 = y**2, inverse_alpha0
        of_powers = [agreement ** (i % 2) * y**i * weights[j] for i, j in _POWERS]
        self._integrands: RealOrComplex = np.stack(of_powers, axis=1)

    def damping(self, w: RealOrComplex) -> RealOrComplex:
        """Compute 1/(1 + w y^2/alpha0), shape (..., N)."""
        return 1 / (1 + (self.inverse_alpha0 * w)[..., None] * self.squares)

    def damped(self, factors: RealOrComplex) -> DampedMoments:
        """Average with some factors, shape (..., N)."""
        moments = np.moveaxis(factors @ self._integrands, -1, 0)
        return dict(zip(_POWERS, moments, strict=True))

    def power(self, degree: int, factors: RealOrComplex) -> RealOrComplex:
        """Average a power of y alone with some factors."""
        return factors @ self._integrands[:, _POWERS.index((degree, 0))]


class BatchResolvent(NamedTuple):
    """`(1 + t C)^-1` for rows of covariance `C = A + D B D` over d.

    It leaves out the directions on which labels depend. B is the second moment of the batch's
    inputs with weights y^2. A and D are diagonal.

    Attributes
    ----------
    own, squared_gain, weight : Array, shape (M,)
        A and D^2, and the weight of each entry.
    moments : BatchMoments
    """

    own: Array
    squared_gain: Array
    weight: Array
    moments: BatchMoments

    def at(
        self, t: RealOrComplex, trace: RealOrComplex
    ) -> tuple[DampedMoments, RealOrComplex, RealOrComplex]:
        """Compute moments and the diagonals of C and (1 + t C)^-1, (..., M), at some t."""
        E = self.moments.damped(self.moments.damping(t * trace))
        diagonal = self.own + np.multiply.outer(E[2, 0], self.squared_gain)
        return E, diagonal, 1 / (1 + t[..., None] * diagonal)

    def trace(self, t: RealOrComplex, start: RealOrComplex | None = None) -> RealOrComplex:
        """Solve for the trace of `D^2 (1 + t C)^-1` over d at some t by Newton's method.

        It starts from above, since the right side is concave; for complex t, from a trace nearby.
        """
        weight, inverse_alpha0 = self.weight * self.squared_gain, self.moments.inverse_alpha0

        def advance(trace: RealOrComplex) -> tuple[RealOrComplex, Array]:
            damping = self.moments.damping(t * trace)
            mean = np.multiply.outer(self.moments.power(2, damping), self.squared_gain)
            Q = 1 / (1 + t[..., None] * (self.own + mean))
            squared = self.moments.power(4, damping**2)
            slope = inverse_alpha0 * t**2 * squared * (Q**2 @ (weight * self.squared_gain))
            step = (Q @ weight - trace) / (1 - slope)
            return trace + step, np.abs(step) / np.maximum(np.abs(trace), TINY)

        start = (1 / (1 + np.multiply.outer(t, self.own))) @ weight if start is None else start
        return iterate_newton(advance, start, _SHORT_STEP, _ITERATIONS)
