"""Kinks of a function that is known by its values: where it, or a derivative, jumps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial, chebyshev

from giantstep.arrays import Array, Mask

Values = Callable[[Any], Any]
# Beyond this nobody looks for kinks; N(0, 1) has no mass there.
SEARCHED = 16.0
# Panels that resolve a function of scale one: those of the rules of `gaussian`.
_OUTWARDS = np.array([0, 1, 2, 4, 8, SEARCHED])
BASE_EDGES = np.concatenate([-_OUTWARDS[:0:-1], _OUTWARDS])
# Kinks are often at round numbers, where edges of panels would hide them.
_SHIFT = 0.0317460
# Panels as narrow as the first that are not resolved hold a kink, sought down to the second.
_NARROW, _NARROWEST = 2.0**-6, 2.0**-9
# A polynomial on each side of a kink: its degree, and the width of its panel.
_DEGREE, _WIDTH = 8, 2.0**-4
# What differs of the terms of their Taylor series at a kink, and how well its place is then known.
_DIFFERENT = (1e-7, 1e-7, 1e-8, 1e-9)
_PLACED = (1e-12, 1e-10, 1e-8, 1e-6)


class Test(NamedTuple):
    """A panel passes if the polynomial through its nodes is right at other places.

    Attributes
    ----------
    places : Array
        From -1 to 1 within the panel.
    polynomial : Array
        Takes the values at the nodes to those of the polynomial at the places.
    precision : float
        Relative.
    """

    places: Array
    polynomial: Array
    precision: float


_NODES = chebyshev.chebpts1(16)


def _make_test(reach: float, precision: float) -> Test:
    places = np.linspace(-reach, reach, 67)
    powers = [chebyshev.chebvander(x, _NODES.size - 1) for x in (places, _NODES)]
    return Test(places, powers[0] @ np.linalg.inv(powers[1]), precision)


# Gauss rules, which have more nodes, are right to rounding on a panel that passes.
_RESOLVED = _make_test(0.999, 1e-8)
# Kinks of higher derivatives show in fewer digits, and those at the end of a panel beyond it.
_SMOOTH = _make_test(1.02, 1e-11)


class NotSmoothError(ValueError):
    """A function that is not smooth between kinks; `place` is where."""

    def __init__(self, place: float) -> None:
        self.place = place
        super().__init__(f"not smooth near z = {place:.6g}")


def find_kinks(values: Values) -> list[float]:
    """Find where a function or one of its first derivatives jumps, for |z| <= SEARCHED.

    Raises
    ------
    NotSmoothError
        Where it is neither smooth nor smooth on both sides of a kink.
    """
    shifted = BASE_EDGES * (1 - _SHIFT / SEARCHED) + _SHIFT
    _, unresolved = resolving_edges(values, shifted, _SMOOTH)
    intervals: list[tuple[float, float]] = []
    for left, right in unresolved:
        if intervals and left - intervals[-1][1] < _NARROWEST / 2:
            left = intervals.pop()[0]
        intervals.append((left, right))
    return [_kink_within(values, interval, intervals) for interval in intervals]


def resolving_edges(
    values: Values, edges: Array, test: Test = _RESOLVED
) -> tuple[Array, list[tuple[float, float]]]:
    """Halve panels until each is resolved, or very narrow.

    Returns
    -------
    edges : Array
        The ends of all panels, sorted.
    unresolved : list of (float, float)
        The narrow panels that are not resolved though their halves may be, sorted.
    """
    size = float(np.sqrt(np.mean(values(np.linspace(-4, 4, 401)) ** 2)))
    panels, done = np.stack([edges[:-1], edges[1:]], axis=1), [edges]
    unresolved: set[tuple[float, float]] = set()
    while panels.size:
        panels = panels[~passes(values, panels, size, test)]
        for left, right in panels[np.diff(panels)[:, 0] <= _NARROW].tolist():
            # In place of a wider one that it is a half of.
            unresolved -= {(left, 2 * right - left), (2 * left - right, right)}
            unresolved.add((left, right))
        panels = panels[np.diff(panels)[:, 0] > _NARROWEST]
        middle = panels.mean(axis=1)
        done.append(middle)
        panels = np.stack([panels[:, 0], middle, middle, panels[:, 1]], axis=1).reshape(-1, 2)
    return np.unique(np.concatenate(done)), sorted(unresolved)


def passes(values: Values, panels: Array, size: float = 0.0, test: Test = _RESOLVED) -> Mask:
    """Tell which panels, shape (N, 2), pass a test, relative to `size` or more."""
    centre, half = panels.mean(axis=1)[:, None], np.diff(panels) / 2
    exact = values(centre + half * test.places)
    error = np.abs(values(centre + half * _NODES) @ test.polynomial.T - exact).max(axis=1)
    passed: Mask = error <= test.precision * np.maximum(size, np.abs(exact).max(axis=1))
    return passed


def _kink_within(
    values: Values, interval: tuple[float, float], others: Sequence[tuple[float, float]]
) -> float:
    """Find the one kink in an interval from the polynomials on both sides of it.

    Raises
    ------
    NotSmoothError
    """
    start, end = interval
    ends = [-np.inf, *(right for _, right in others if right < start)]
    starts = [*(left for left, _ in others if left > end), np.inf]
    width = min(_WIDTH, start - ends[-1], starts[0] - end)
    if width < _NARROWEST or end - start > 2 * _NARROW:
        raise NotSmoothError(start)
    # In units of the width, from the middle.
    centre, half = (start + end) / 2, (end - start) / 2 / width
    left, right = (_fit(lambda t: values(centre + width * t), side) for side in (-half - 1, half))
    order, place = _order_and_place(left, right, half)
    if order == 0:
        place = _jump(lambda t: values(centre + width * t), left, right, half)
    if not math.isfinite(place):
        raise NotSmoothError(centre)
    z = centre + width * place
    rounded = round(z, 6) + 0.0
    return rounded if abs(z - rounded) < _PLACED[order] else z


def _fit(values: Values, start: float) -> Polynomial:
    """Interpolate from a place to one unit further by a polynomial."""
    nodes = start + (1 + chebyshev.chebpts1(_DEGREE + 1)) / 2
    return Polynomial.fit(nodes, values(nodes), _DEGREE).convert()


def _order_and_place(left: Polynomial, right: Polynomial, half: float) -> tuple[int, float]:
    """Find the lowest derivative that jumps near the origin, and where; (0, nan) if values do."""
    difference, size = right - left, max(abs(left(-half - 1)), abs(right(half + 1)))
    for order in (1, 2, 3):
        place = _root(difference.deriv(order - 1), half + 0.1)
        terms = [abs(difference.deriv(k)(place)) / math.factorial(k) for k in range(4)]
        # Rounding splits a double root in two, where the slopes differ little.
        least = 1e-4 * max(terms)
        jumps = [term > max(x * size, least) for term, x in zip(terms, _DIFFERENT, strict=True)]
        if jumps[: order + 1] == [False] * order + [True]:
            return order, place
    return 0, math.nan


def _root(difference: Polynomial, within: float) -> float:
    """Find the root nearest to the origin, or NaN if none is within a distance of it."""
    roots = difference.roots()
    real = roots.real[(np.abs(roots.imag) < 1e-6) & (np.abs(roots.real) < within)]
    return float(real[np.argmin(np.abs(real))]) if real.size else math.nan


def _jump(values: Values, left: Polynomial, right: Polynomial, half: float) -> float:
    """Narrow an interval about a jump until its ends meet; NaN if there is none.

    It is not halved, since the value at the jump itself, often a round number, is on neither side.
    """
    start, end, jump = -half, half, abs(left(0.0) - right(0.0))
    if jump < _DIFFERENT[0] * max(abs(left(0.0)), abs(right(0.0))):
        return math.nan
    while end - start > 1e-14:
        middle = start + 0.4871 * (end - start)
        value = values(np.array([middle]))[0]
        to_left, to_right = abs(value - left(middle)), abs(value - right(middle))
        if min(to_left, to_right) > 1e-3 * jump:
            return math.nan
        start, end = (middle, end) if to_left < to_right else (start, middle)
    return start


def jumps_at(values: Values, place: float, width: float) -> bool:
    """Tell whether a function has different limits on both sides of a place."""
    width = min(width, _WIDTH)
    left, right = (_fit(lambda t: values(place + width * t), side) for side in (-1.0, 0.0))
    size = max(abs(left(-1)), abs(right(1)))
    return bool(abs(right(0.0) - left(0.0)) > _DIFFERENT[0] * size)
