"""A minimum is found to the tolerance, inside the interval and at its ends."""

import math

import numpy as np
import pytest

from giantstep.numerics.minimisation import (
    minimise_each_from_candidates,
    minimise_from_candidates,
)

CANDIDATES = np.linspace(-2, 2, 9)


def test_the_lower_of_two_minima_is_found():
    x, least = minimise_from_candidates(lambda x: (x**2 - 1) ** 2 + 0.1 * x, CANDIDATES)
    assert x == pytest.approx(np.roots([4, 0, -4, 0.1]).min(), abs=1e-5)
    assert least == (x**2 - 1) ** 2 + 0.1 * x


def test_a_function_that_decreases_throughout_has_its_minimum_at_the_end():
    assert minimise_from_candidates(lambda x: -x, CANDIDATES) == (2.0, -2.0)


def test_infinite_values_are_avoided():
    x, _ = minimise_from_candidates(lambda x: math.inf if x < 0 else (x - 0.9) ** 2, CANDIDATES)
    assert x == pytest.approx(0.9, abs=1e-5)


def test_minima_of_several_functions_are_found_together_unless_at_an_edge():
    def function(x, centre):
        return np.where(x > 30, np.nan, np.log(x / centre) ** 2)

    centres = np.array([0.01, 0.2, 3.3, 20.0, 90.0])
    found, on_edge = minimise_each_from_candidates(function, centres, np.geomspace(0.1, 100, 13))
    assert found[1:3] == pytest.approx(centres[1:3], rel=1e-6)
    assert found[0] == pytest.approx(0.1)
    # Beyond 30 there is no value: the best candidate below it is an edge, too.
    assert found[3:] == pytest.approx([10 ** (5 / 4)] * 2)
    assert on_edge.tolist() == [True, False, False, True, True]


def test_nothing_is_on_an_edge_where_no_candidate_has_a_value():
    found = minimise_each_from_candidates(lambda x, a: x * np.nan, np.ones(1), np.array([1, 2, 3]))
    assert found[1].tolist() == [False]


def test_a_tolerance_saves_evaluations():
    counts = []
    for tolerances in (None, {"xatol": 1e-2}):
        points = []

        def function(x, centre, points=points):
            points.append(x.size)
            return np.cosh(np.log(x / centre))

        centres, candidates = np.array([0.7]), np.array([0.1, 1.0, 10.0])
        found, _ = minimise_each_from_candidates(function, centres, candidates, tolerances)
        assert found == pytest.approx(0.7, rel=1e-2)
        counts.append(sum(points))
    assert counts[1] < counts[0]
