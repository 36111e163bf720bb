"""Checks of a function that is given as a callable, against its own values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev

from giantstep.arrays import Array, Reals
from giantstep.numerics.function_table import Parity
from giantstep.numerics.gaussian import LONGEST_TAIL, tail
from giantstep.numerics.kinks import SEARCHED, Values
from giantstep.validation import refusal

# Where functions are checked, between the round numbers at which they may have kinks.
GRID: Array = 0.00314159 + np.concatenate([np.linspace(-4, 4, 800), np.linspace(-16, 16, 320)])
# Where functions that are not finite everywhere often are not.
_ROUND = np.arange(-SEARCHED, SEARCHED + 0.25, 0.25)
# Of a stated derivative, and of values that are equal by parity; relative.
_SAME_SLOPE, _SAME_VALUE = 1e-6, 1e-10
# Polynomials are recognised up to this degree, where they are fitted to this precision.
_HIGHEST, _ROUNDING = 16, 1e-12
# Functions that vary slowly are like polynomials on the grid, but not so many times farther out;
_FAR = 100
# and small parts beside a high power are seen on the grid's finer part, next to zero.
_NEAR = GRID[np.abs(GRID) <= 4]
_RIGHT = GRID[GRID > 0]
_ENTRYWISE = "a real function of an array, entry by entry"


def entrywise(parameter: str, name: str, call: Callable[[Any], Any]) -> Values:
    """Give a callable the contract of `ScalarFunction.value`: any shape, either precision.

    Refuse what is not a real and finite function of arrays, entry by entry.

    Raises
    ------
    InvalidParametersError
    """
    z, some = np.union1d(GRID, _ROUND), slice(5, 40)
    with np.errstate(all="ignore"):
        try:
            whole, alone = (np.asarray(call(part.copy())) for part in (z, z[some]))
        except Exception as error:
            raise refusal(parameter, name, f"{_ENTRYWISE}: it raised {error!r}") from error
    if whole.shape != z.shape or whole.dtype.kind not in "buif":
        allowed = f"{_ENTRYWISE}: it returned {whole.dtype} of shape {whole.shape} for {z.shape}"
        raise refusal(parameter, name, allowed)
    if not np.all(finite := np.isfinite(whole)):
        place = min(z[~finite], key=abs)
        allowed = f"finite for |z| <= {SEARCHED:g}: at z = {place:.6g} it is not"
        raise refusal(parameter, name, allowed)
    if not np.allclose(whole[some], alone, rtol=1e-9, atol=1e-12):
        raise refusal(parameter, name, f"{_ENTRYWISE}, the same in every array")
    return partial(_values, call)


def _values(call: Callable[[Any], Any], x: Reals) -> Reals:
    """Return values in the type and shape of an array; the callable gets one of its own."""
    x = np.asarray(x)
    return np.asarray(call(x.flatten()), dtype=x.dtype).reshape(x.shape)


def check_growth(name: str, values: Values) -> None:
    """Refuse what is zero everywhere, or grows too fast for moments under N(0, 1).

    Raises
    ------
    InvalidParametersError
    """
    if not np.any(values(GRID)):
        raise refusal("function", name, "other than zero: it is zero on all of a grid")
    if tail(values) > LONGEST_TAIL:
        allowed = "of slower growth: z^2 f(z)^2 still adds to its mean where rules for N(0, 1) end"
        raise refusal("function", name, allowed)


def find_degree(values: Values) -> int | None:
    """Find the degree of a polynomial, up to `_HIGHEST`; None for any other function."""
    with np.errstate(all="ignore"):
        for z in (_FAR * GRID, GRID, _NEAR):
            try:
                exact = values(z)
            except Exception:  # a table may end at the largest |z| that is promised
                return None
            fit, rounding = Chebyshev.fit(z, exact, _HIGHEST), _ROUNDING * np.max(np.abs(exact))
            if not np.allclose(fit(z), exact, rtol=0, atol=rounding):
                return None
    return int(np.flatnonzero(np.abs(fit.coef) > rounding)[-1])


def find_parity(values: Values) -> Parity:
    """Find the parity."""
    size = np.sqrt(np.mean(values(GRID) ** 2))
    same = partial(np.allclose, values(_RIGHT), rtol=_SAME_VALUE, atol=_SAME_VALUE * size)
    left = values(-_RIGHT)
    return "odd" if same(-left) else "even" if same(left) else "none"


def check_derivative(name: str, derivative: Values, slope: Values) -> None:
    """Refuse a derivative that is not the slope of the values.

    Raises
    ------
    InvalidParametersError
    """
    slopes = slope(GRID)
    size = np.sqrt(np.mean(slopes**2)) or 1.0
    error = np.abs(derivative(GRID) - slopes) / np.maximum(np.abs(slopes), size)
    if error.max() > _SAME_SLOPE:
        allowed = f"the slope of the values: at z = {GRID[error.argmax()]:.6g} it is not"
        raise refusal("derivative", name, allowed)
