"""Checks of a function that is given as a callable, against its own values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from giantstep.arrays import Array, Reals
from giantstep.numerics.function_table import Parity
from giantstep.numerics.gaussian import LONGEST_TAIL, tail
from giantstep.numerics.kinks import (
    BASE_EDGES,
    SEARCHED,
    NotSmoothError,
    Values,
    find_kinks,
    jumps_at,
    resolving_edges,
)
from giantstep.numerics.quadrature import RANGE
from giantstep.validation import refusal

# Where functions are checked, between the round numbers at which they may have kinks.
GRID: Array = 0.00314159 + np.concatenate([np.linspace(-4, 4, 800), np.linspace(-16, 16, 320)])
# Where functions that are not finite everywhere often are not.
_ROUND = np.arange(-SEARCHED, SEARCHED + 0.25, 0.25)
# Kinks that are closer to each other have to be stated.
_CLOSE = 0.01
# Panels that quadrature rules are split into at most, besides those of any function.
_MOST_PANELS = 100
# Of a stated derivative, and of values that are equal by parity; relative.
_SAME_SLOPE, _SAME_VALUE = 1e-6, 1e-10
_SIGNS: dict[Parity, int] = {"odd": -1, "even": 1}
_RIGHT = GRID[GRID > 0]
_ENTRYWISE = "a function of an array, entry by entry: "


class Entrywise:
    """A callable with the contract of `ScalarFunction.value`: any shape, either precision."""

    def __init__(self, call: Callable[[Any], Any]) -> None:
        self.call = call

    def __call__(self, x: Reals) -> Reals:
        """Return the values in the type of the array, and in memory of their own."""
        x = np.asarray(x)
        values = np.asarray(self.call(x.ravel()), dtype=x.dtype).reshape(x.shape)
        return values.copy() if np.may_share_memory(values, x) else values


def check_entrywise(parameter: str, name: str, call: Callable[[Any], Any]) -> None:
    """Refuse what is not a real and finite function of arrays, entry by entry.

    Raises
    ------
    InvalidParametersError
    """
    z = np.union1d(GRID, _ROUND)
    given, some = z.copy(), slice(5, 40)
    with np.errstate(all="ignore"):
        try:
            whole, alone = np.asarray(call(given)), np.asarray(call(z[some].copy()))
        except Exception as error:
            allowed = f"{_ENTRYWISE}for an array it raised {error!r}"
            raise refusal(parameter, name, allowed) from error
    if whole.shape != z.shape or whole.dtype.kind not in "buif":
        returned = f"{whole.dtype} of shape {whole.shape}"
        allowed = f"{_ENTRYWISE}for {z.size} entries it returned {returned}"
    elif not np.array_equal(given, z):
        allowed = "such that it leaves its argument as it is"
    elif not np.all(finite := np.isfinite(whole)):
        i = int(np.argmin(np.where(finite, np.inf, np.abs(z))))
        allowed = f"finite for |z| <= {SEARCHED:g}: at z = {z[i]:.6g} it is {whole[i]}"
    elif (differ := ~np.isclose(whole[some], alone, rtol=1e-9, atol=1e-12)).any():
        place, one, other = (values[differ][0] for values in (z[some], whole[some], alone))
        in_arrays = f"{one:.6g} in one array, {other:.6g} in another"
        allowed = f"{_ENTRYWISE}at z = {place:.6g} it is {in_arrays}"
    else:
        return
    raise refusal(parameter, name, allowed)


def check_growth(name: str, values: Values) -> None:
    """Refuse what is zero everywhere, or grows too fast for moments under N(0, 1).

    Raises
    ------
    InvalidParametersError
    """
    if not np.any(values(GRID)):
        raise refusal("function", name, "other than zero: it is zero on all of a grid")
    if tail(values) > LONGEST_TAIL:
        ends = np.array([-RANGE, RANGE])
        place, value = max(zip(ends, values(ends), strict=True), key=lambda pair: abs(pair[1]))
        allowed = (
            f"of slower growth: rules for N(0, 1) end at |z| = {RANGE:g}, where z^2 f(z)^2 still"
            f" adds to its mean; at z = {place:g} it is {value:.3g}"
        )
        raise refusal("function", name, allowed)


def find_all_kinks(
    name: str, values: Values, stated: Sequence[float] | None
) -> tuple[list[float], bool]:
    """Find the kinks, besides those stated; tell whether the function itself jumps at none.

    Raises
    ------
    InvalidParametersError
        If the function is not smooth, and no kinks are stated.
    """
    kinks = _read_kinks(stated)
    try:
        kinks += [z for z in find_kinks(values) if not np.any(np.isclose(z, kinks, 0, _CLOSE))]
    except NotSmoothError as error:
        if stated is None:
            raise refusal("function", name, _not_smooth(values, error.place)) from error
    kinks.sort()
    return kinks, not any(jumps_at(values, kink) for kink in kinks)


def find_panels(name: str, values: Values, kinks: Sequence[float]) -> Array:
    """Find the edges of panels that resolve a function between its kinks.

    Raises
    ------
    InvalidParametersError
        If it is not smooth there, or varies too fast.
    """
    edges, unresolved = resolving_edges(values, np.union1d(BASE_EDGES, kinks))
    if unresolved is not None:
        raise refusal("function", name, _not_smooth(values, unresolved))
    if edges.size > _MOST_PANELS:
        allowed = (
            f"resolved by {_MOST_PANELS} panels on |z| <= {SEARCHED:g}: it varies so fast, or has"
            f" so many kinks, that it needs {edges.size}"
        )
        raise refusal("function", name, allowed)
    return edges


def _read_kinks(stated: Sequence[float] | None) -> list[float]:
    try:
        kinks = set(np.ravel(np.asarray(() if stated is None else stated, dtype=float)).tolist())
    except (TypeError, ValueError) as error:
        raise refusal("kinks", stated, "numbers") from error
    if not np.all(np.isfinite(list(kinks))):
        raise refusal("kinks", stated, "finite numbers")
    return list(kinks)


def _not_smooth(values: Values, place: float) -> str:
    near = place + np.array([-0.02, 0.0, 0.02])
    places, shown = (", ".join(f"{x:.9g}" for x in column) for column in (near, values(near)))
    return (
        "smooth except at kinks (stated, where they are as close as 0.001), and of double"
        f" precision: near z = {place:.6g} it is not; at {places} it is {shown}"
    )


def find_parity(values: Values, stated: Parity | None) -> Parity:
    """Find the parity; a stated one must be that, or "none".

    Raises
    ------
    InvalidParametersError
    """
    size = np.sqrt(np.mean(values(GRID) ** 2))
    right, left = values(_RIGHT), values(-_RIGHT)
    actual: Parity = "none"
    for parity, sign in _SIGNS.items():
        gap = np.abs(right - sign * left) / np.maximum(np.abs(right), size)
        if gap.max() <= _SAME_VALUE:
            actual = parity
    if stated not in (None, actual, "none"):
        raise refusal("parity", stated, f"that of the values, which is {actual}")
    return stated or actual


def check_derivative(name: str, derivative: Values, slope: Values) -> None:
    """Refuse a derivative that is not the slope of the values.

    Raises
    ------
    InvalidParametersError
    """
    given, slopes = derivative(GRID), slope(GRID)
    size = np.maximum(np.abs(slopes), np.sqrt(np.mean(slopes**2)))
    error = np.abs(given - slopes) / np.where(size > 0, size, 1.0)
    if error.max() > _SAME_SLOPE:
        # Nearest to the origin of the places where it is plain to see.
        i = int(np.argmin(np.where(error > 0.1 * error.max(), np.abs(GRID), np.inf)))
        allowed = (
            f"the slope of the values: at z = {GRID[i]:.6g} it is {given[i]:.6g}, and the slope of"
            f" the values {slopes[i]:.6g}"
        )
        raise refusal("derivative", name, allowed)
