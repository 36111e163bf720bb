"""Kinks of a function that is known by its values: where it, or a derivative, jumps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from giantstep.arrays import Array, Mask

Values = Callable[[Any], Any]
# Beyond this nobody looks for kinks; N(0, 1) has no mass there.
SEARCHED = 16.0
# Panels that resolve a function of scale one: those of the rules of `gaussian`.
_OUTWARDS = np.array([0, 1, 2, 4, 8, SEARCHED])
BASE_EDGES = np.concatenate([-_OUTWARDS[:0:-1], _OUTWARDS])
# Kinks are often at round numbers, where edges of panels would hide them.
_SHIFT = 0.0317460
# Panels as narrow as the first that are not resolved hold a kink, down to the second, unless there
# are too many of them.
_NARROW, _LEAST, _MOST = 2.0**-9, 1e-13, 200
# What differs of a function on both sides of a jump, and how close to it they are compared.
_DIFFERENT, _CLOSE = 1e-6, 1e-9


# A panel passes a test if the polynomial through its nodes is right at other places, from -1 to 1
# within the panel: the places, the matrix that takes the values at the nodes to those at the
# places, and the relative precision.
Test = tuple[Array, Array, float]
_NODES = chebyshev.chebpts1(16)


def _make_test(reach: float, precision: float) -> Test:
    places = np.linspace(-reach, reach, 67)
    powers = [chebyshev.chebvander(x, _NODES.size - 1) for x in (places, _NODES)]
    return places, powers[0] @ np.linalg.inv(powers[1]), precision


# Gauss rules, which have more nodes, are right to rounding on a panel that passes.
_RESOLVED = _make_test(0.999, 1e-8)
# Kinks of higher derivatives show in fewer digits, and those at the end of a panel beyond it.
_SMOOTH = _make_test(1.02, 1e-11)


def find_kinks(values: Values) -> list[float]:
    """Find where a function or one of its first derivatives jumps, for |z| <= SEARCHED.

    Panels are halved until both halves pass the test: the kink is in the last that does not. How
    narrow it is depends on the derivative that jumps. Where there are too many, none is found.
    """
    size, found = _size(values), []
    panels = _panels(BASE_EDGES * (1 - _SHIFT / SEARCHED) + _SHIFT)
    panels = panels[~passes(values, panels, size, _SMOOTH)]
    while panels.size:
        halves, width = _halved(panels), np.diff(panels)[:, 0]
        fails = ~passes(values, halves, size, _SMOOTH)
        last = ~fails.reshape(-1, 2).any(axis=1) | (width < _LEAST)
        found += panels[last & (width <= _NARROW)].tolist()
        panels = halves[fails & ~np.repeat(last, 2)]
        if len(panels) > _MOST:
            return []
    kinks: list[tuple[float, float]] = []  # width of the narrowest panel around each, and place
    for left, right in sorted(found):
        kink = right - left, (left + right) / 2
        if kinks and kink[1] - kinks[-1][1] < _NARROW:
            kink = min(kink, kinks.pop())
        kinks.append(kink)
    return [round(place, math.floor(-math.log10(2 * width))) + 0.0 for width, place in kinks]


def resolving_edges(values: Values, edges: Array) -> tuple[Array, float | None]:
    """Halve panels until each is resolved, or very narrow.

    Returns
    -------
    edges : Array
        The ends of all panels, sorted.
    unresolved : float or None
        The first place near which narrow panels are not resolved.
    """
    size, panels, done, unresolved = _size(values), _panels(edges), [edges], None
    while panels.size and unresolved is None:
        panels = panels[~passes(values, panels, size)]
        narrow = panels[np.diff(panels)[:, 0] <= _NARROW]
        unresolved = float(narrow[0, 0]) if narrow.size else None
        done.append(panels.mean(axis=1))
        panels = _halved(panels)
    return np.unique(np.concatenate(done)), unresolved


def _size(values: Values) -> float:
    return float(np.sqrt(np.mean(values(np.linspace(-4, 4, 401)) ** 2)))


def _panels(edges: Array) -> Array:
    return np.stack([edges[:-1], edges[1:]], axis=1)


def _halved(panels: Array) -> Array:
    (left, right), middle = panels.T, panels.mean(axis=1)
    return np.stack([left, middle, middle, right], axis=1).reshape(-1, 2)


def passes(values: Values, panels: Array, size: float = 0.0, test: Test = _RESOLVED) -> Mask:
    """Tell which panels, shape (N, 2), pass a test, relative to `size` or more."""
    centre, half = panels.mean(axis=1)[:, None], np.diff(panels) / 2
    places, polynomial, precision = test
    exact = values(centre + half * places)
    error = np.abs(values(centre + half * _NODES) @ polynomial.T - exact).max(axis=1)
    return error <= precision * np.maximum(size, np.abs(exact).max(axis=1))


def jumps_at(values: Values, place: float) -> bool:
    """Tell whether a function has different limits on both sides of a place."""
    left, right = values(place + np.array([-_CLOSE, _CLOSE]))
    return bool(abs(right - left) > _DIFFERENT * max(_size(values), abs(left), abs(right)))
