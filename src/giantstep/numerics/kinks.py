"""Kinks of a function that is known by its values: where it, or a derivative, jumps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from giantstep.arrays import Array, Mask
from giantstep.validation import refusal

Values = Callable[[Any], Any]
# Beyond this nobody looks for kinks; N(0, 1) has no mass there.
SEARCHED = 16.0
# Panels that resolve a function of scale one: those of the rules of `gaussian`.
_OUTWARDS = np.array([0, 2, 4, 8, SEARCHED])
BASE_EDGES = np.concatenate([-_OUTWARDS[:0:-1], _OUTWARDS])
# Kinks are often at round numbers, where edges of panels would hide them.
_SHIFT = 0.0317460
# Panels as narrow as the first that are not resolved hold a kink, down to the second, unless there
# are too many of them.
_NARROW, _LEAST, _MOST = 2.0**-9, 1e-13, 200
# Panels that quadrature rules are split into at most.
_MOST_PANELS = 100
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


def find_panels(name: str, values: Values, kinks: Sequence[float]) -> Array:
    """Find the edges of panels that resolve a function between its kinks.

    Raises
    ------
    InvalidParametersError
        If it is not smooth there, or varies too fast.
    """
    edges = np.union1d(BASE_EDGES, kinks)
    size, panels = _size(values), _panels(edges)
    while (panels := panels[~passes(values, panels, size)]).size:
        width = np.diff(panels)[:, 0]
        if width.min() <= _NARROW or edges.size + len(panels) > _MOST_PANELS:
            allowed = "smooth except at kinks (stated, where they are as close as 0.01)"
            if width.min() > _NARROW:
                allowed = f"one that varies more slowly ({_MOST_PANELS} panels at most)"
            place = f"near z = {panels[width.argmin(), 0]:.6g} it is not"
            raise refusal("function", name, f"{allowed}, and of double precision: {place}")
        edges = np.union1d(edges, panels.mean(axis=1))
        panels = _halved(panels)
    return edges


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
