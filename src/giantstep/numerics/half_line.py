"""Functions of t >= 0 that are analytic and decay like 1/t, as polynomials.

Interpolating polynomials in x = (c t - 1)/(c t + 1) hold them, times 1 + c t, to rounding for all
t, where c is the inverse of the scale on which they vary.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.polynomial import chebyshev

from giantstep.arrays import Array, RealOrComplex

# The least and the largest degree of the polynomials.
LEAST, MOST = 16, 192
# A lower cap on finer rules, so that the change between the two caps bounds the truncation error.
FEWER = 144
# The relative size of the last coefficients that is small enough.
_TOLERANCE = 1e-10
# Last coefficients that are larger than this are no measure of how fast they will decay.
_SLOW = 0.1


class HalfLineFunctions:
    """Functions on the half line.

    Parameters
    ----------
    scale : float
        c.
    coefficients : Array, shape (degree + 1, functions)

    Attributes
    ----------
    degree : int
    error : float
        Largest size of the last coefficients, relative to the largest or to one.
    """

    def __init__(self, scale: float, coefficients: Array) -> None:
        self.scale, self.degree = scale, len(coefficients) - 1
        size, last = (np.max(np.abs(part), axis=0) for part in (coefficients, coefficients[-3:]))
        self.error = float(np.max(last / np.maximum(size, 1.0)))
        self.coefficients: Array = coefficients.T

    @classmethod
    def fitted(
        cls,
        scale: float,
        functions: Callable[[Array], Array],
        tolerance: float = _TOLERANCE,
        most: int = MOST,
    ) -> Self:
        """Fit polynomials to functions of t, shape (S,), whose values have shape (S, functions).

        The degree grows until the `error` is below the tolerance, up to `most`.
        """

        def values(x: Array) -> Any:
            return functions((1 + x) / (1 - x) / scale) * (2 / (1 - x))[:, None]

        degree = LEAST
        while True:
            found = cls(scale, chebyshev.chebinterpolate(values, degree))
            if found.error <= tolerance or degree >= most:
                return found
            # The coefficients decay exponentially.
            last = found.error if found.error < _SLOW else _SLOW
            enough = math.ceil(degree * math.log(tolerance / 10) / math.log(last))
            degree = min(max(enough, degree + 4), 4 * degree, most)

    def basis(self, t: RealOrComplex) -> tuple[RealOrComplex, RealOrComplex]:
        """Compute 1/(1 + c t), shape (S,), and polynomials of x, shape (degree + 1, S).

        Cosines would take a fifth of the time of a large grid.
        """
        weight = 1 / (1 + self.scale * t)
        powers = np.ones((self.degree + 1, t.size), t.dtype)
        powers[1:2] = (self.scale * t - 1) * weight
        known = 1
        while known < self.degree:  # T_{n + k} = 2 T_n T_k - T_{n - k} doubles those that are known
            k = min(known, self.degree - known)
            below = powers[known - k : known][::-1]
            powers[known + 1 : known + k + 1] = 2 * powers[known] * powers[1 : k + 1] - below
            known += k
        return weight, powers
