"""Checks of a function that is given as a callable, against its own values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from giantstep.arrays import Array, Reals
from giantstep.numerics.function_table import Parity
from giantstep.numerics.gaussian import LONGEST_TAIL, tail
from giantstep.numerics.kinks import BASE_EDGES, SEARCHED, Values, resolving_edges
from giantstep.numerics.quadrature import RANGE
from giantstep.validation import InvalidParametersError, refusal

# Where functions are checked, between the round numbers at which they may have kinks.
GRID: Array = 0.00314159 + np.concatenate([np.linspace(-4, 4, 800), np.linspace(-16, 16, 320)])
# Where functions that are not finite everywhere often are not.
_ROUND = np.arange(-SEARCHED, SEARCHED + 0.25, 0.25)
# Panels that quadrature rules are split into at most, besides those of any function.
_MOST_PANELS = 100
# Of a stated derivative, and of values that are equal by parity; relative.
_SAME_SLOPE, _SAME_VALUE = 1e-6, 1e-10
_SIGNS: dict[Parity, int] = {"odd": -1, "even": 1}
_RIGHT = GRID[GRID > 0]
_ENTRYWISE = "a real function of an array, entry by entry"


def _refused(name: str, must: str, values: Values, z: float) -> InvalidParametersError:
    """Refuse a function, with its value at a place."""
    return refusal("function", name, f"{must}; at z = {z:.9g} it is {values(z):.6g}")


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
            allowed = f"{_ENTRYWISE}: for an array it raised {error!r}"
            raise refusal(parameter, name, allowed) from error
    if whole.shape != z.shape or whole.dtype.kind not in "buif":
        allowed = f"{_ENTRYWISE}: it returned {whole.dtype} of shape {whole.shape} for {z.shape}"
    elif not np.all(finite := np.isfinite(whole)):
        i = int(np.argmin(np.where(finite, np.inf, np.abs(z))))
        allowed = f"finite for |z| <= {SEARCHED:g}: at z = {z[i]:.6g} it is {whole[i]}"
    elif not np.allclose(whole[some], alone, rtol=1e-9, atol=1e-12):
        allowed = f"{_ENTRYWISE}: in one array it has other values than in another"
    else:
        return partial(_values, call)
    raise refusal(parameter, name, allowed)


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
        place = max(-RANGE, RANGE, key=lambda z: abs(values(z)))
        allowed = "of slower growth: z^2 f(z)^2 still adds to its mean where rules for N(0, 1) end"
        raise _refused(name, allowed, values, place)


def find_panels(name: str, values: Values, kinks: Sequence[float]) -> Array:
    """Find the edges of panels that resolve a function between its kinks.

    Raises
    ------
    InvalidParametersError
        If it is not smooth there, or varies too fast.
    """
    edges, unresolved = resolving_edges(values, np.union1d(BASE_EDGES, kinks))
    if unresolved is not None:
        allowed = (
            "smooth except at kinks (stated, where they are as close as 0.01), and of double"
            f" precision: near z = {unresolved:.6g} it is not"
        )
        raise _refused(name, allowed, values, unresolved)
    if edges.size > _MOST_PANELS:
        allowed = f"resolved by {_MOST_PANELS} panels: it varies so fast that it needs {edges.size}"
        raise refusal("function", name, allowed)
    return edges


def find_parity(values: Values) -> Parity:
    """Find the parity."""
    size = np.sqrt(np.mean(values(GRID) ** 2))
    right, left = values(_RIGHT), values(-_RIGHT)
    for parity, sign in _SIGNS.items():
        if np.allclose(sign * left, right, rtol=_SAME_VALUE, atol=_SAME_VALUE * size):
            return parity
    return "none"


def check_derivative(name: str, derivative: Values, slope: Values) -> None:
    """Refuse a derivative that is not the slope of the values.

    Raises
    ------
    InvalidParametersError
    """
    given, slopes = derivative(GRID), slope(GRID)
    size = np.sqrt(np.mean(slopes**2)) or 1.0
    error = np.abs(given - slopes) / np.maximum(np.abs(slopes), size)
    if error.max() > _SAME_SLOPE:
        z = GRID[error.argmax()]
        allowed = (
            f"the slope of the values, {slope(z):.6g} at z = {z:.6g}: it is {derivative(z):.6g}"
        )
        raise refusal("derivative", name, allowed)
