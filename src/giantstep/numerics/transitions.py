"""Transitions of averaged functions, and rules under N(0, 1) that resolve them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.function_table import ScalarFunction
from giantstep.numerics.linear_systems import TINY
from giantstep.numerics.quadrature import RANGE, graded_edges, midpoint_rule, strip_step

# On a narrower strip panels have fewer nodes than trapezoidal rules.
_NARROW = 0.25


class Transition(NamedTuple):
    """What varies most in `E f(shift + slope x + width z)`, z ~ N(0, 1), as a function of x.

    It is around `x = (kink - shift)/slope`. If the width is zero, it is a jump or a corner.

    Attributes
    ----------
    function : ScalarFunction
        f.
    shift : Array, shape (...)
    slope, width : float
    """

    function: ScalarFunction
    shift: Array
    slope: float
    width: float

    @property
    def scale(self) -> float:
        """The width of the transition in x."""
        own = 0.0 if self.function.kinks else 1.0  # without kinks, f varies on a scale of one
        return math.hypot(self.width, own) / max(abs(self.slope), TINY)

    def longest_step(self, digits: float) -> float:
        """Find the longest step of a trapezoidal rule that resolves averages and their squares.

        Without kinks they are analytic in a strip. With kinks averages are analytic everywhere;
        what limits the step is the width of their squares, times the density.
        """
        if not self.function.kinks:
            return _step(self.scale, digits)
        return _step(math.inf, digits) / math.hypot(1, math.sqrt(2) / max(self.scale, TINY))

    def edges(self, panel: float = 1.0) -> list[Array]:
        """Find edges of panels around it, each of shape (..., E)."""
        function, shift, slope, width = self
        if slope == 0:
            return []
        around = graded_edges(0.0, self.scale, panel)
        oscillation = math.hypot(width, 1.0) / abs(slope)  # the scale away from kinks
        kinks = function.kinks or (0.0,)
        edges = [((kink - shift) / slope)[..., None] + around for kink in kinks]
        if function.oscillates and oscillation < 1:
            steps = np.arange(-RANGE, RANGE, oscillation)
            edges.append(np.broadcast_to(steps, (*shift.shape, steps.size)))
        return edges


def _step(strip: float, digits: float) -> float:
    return float(strip_step(np.array(strip), digits))


def edges_around(transitions: Sequence[Transition], panel: float = 1.0) -> list[Array]:
    """Find edges of panels around each transition, and zero."""
    return [np.zeros(1), *chain.from_iterable(one.edges(panel) for one in transitions)]


def trapezoidal_rule(
    strip: float, transitions: Sequence[Transition], digits: float
) -> tuple[Array, Array] | None:
    """Choose a rule for what is analytic in a strip and has transitions, unless that is narrow."""
    steps = [_step(strip, digits), *(one.longest_step(digits) for one in transitions)]
    return midpoint_rule(min(steps)) if min(steps) >= _step(_NARROW, digits) else None
