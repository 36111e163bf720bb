"""The distribution function of N(0, 1), many values at once."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from scipy.special import erfcx

from giantstep.arrays import Array
from giantstep.numerics.quadrature import normal_density

# Mills' ratio R(x), x >= 0, is a polynomial of this degree in `s = (x - scale)/(x + scale)`, over
# `x + scale`, with a relative error of 5e-15.
_DEGREE, _SCALE = 20, 4.0
# Beyond this exponentials would underflow, which takes twenty times as long.
FARTHEST = 25.0
# Where s is one, x is infinite.
_LAST = 1 - 1e-14


@cache
def _coefficients() -> list[float]:
    """Interpolate `R(x) (x + scale)` in s, constant term last."""

    def scaled(s: Array) -> Array:
        s = np.minimum(s, _LAST)
        x = _SCALE * (1 + s) / (1 - s)
        ratio: Array = np.sqrt(np.pi / 2) * erfcx(x / np.sqrt(2)) * (x + _SCALE)
        return ratio

    polynomial = Chebyshev.interpolate(scaled, _DEGREE).convert(kind=Polynomial)
    return [float(coefficient) for coefficient in polynomial.coef[::-1]]


def normal_distribution(t: Array) -> tuple[Array, Array]:
    """Compute the probability that N(0, 1) is below t, and the density at t.

    Beyond |t| = 25 both stay as they are there.
    Takes a fifth of the time of `scipy.special.ndtr`, and is right to 2e-14, relatively, above -8.

    Examples
    --------
    >>> import numpy as np
    >>> probability, density = normal_distribution(np.array([-1.0, 0.0]))
    >>> probability.round(6), density.round(6)
    (array([0.158655, 0.5     ]), array([0.241971, 0.398942]))
    """
    x = np.minimum(np.abs(t), FARTHEST)
    density = normal_density(x)
    x += _SCALE
    s = 1 - 2 * _SCALE / x
    leading, *others = _coefficients()
    ratio = np.full_like(s, leading)
    for coefficient in others:
        ratio *= s
        ratio += coefficient
    ratio /= x
    ratio *= density
    return np.where(t > 0, 1 - ratio, ratio), density
