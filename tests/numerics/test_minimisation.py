"""A minimum is found to the tolerance, inside the interval and at its ends."""

import math

import numpy as np
import pytest

from giantstep.numerics.minimisation import minimise_each_from_candidates, refine_on_grid

AXES = [np.linspace(-2, 2, 9)]


def test_a_minimum_is_found_between_candidates_at_an_end_or_beside_infinite_values():
    x, least = refine_on_grid(lambda x: (x[0] ** 2 - 1) ** 2 + 0.1 * x[0], AXES, [2], 1e-6)
    assert x == pytest.approx(np.roots([4, 0, -4, 0.1]).min(), abs=1e-5)
    assert least == (x[0] ** 2 - 1) ** 2 + 0.1 * x[0]
    assert refine_on_grid(lambda x: -x[0], AXES, [8], 1e-6) == ([2.0], -2.0)
    x, _ = refine_on_grid(lambda x: math.inf if x < 0 else (x[0] - 0.9) ** 2, AXES, [6], 1e-6)
    assert x == pytest.approx(0.9, abs=1e-5)


def test_minima_of_several_functions_are_found_together_unless_at_an_edge():
    def function(centre, x):
        return np.where(x > 30, np.nan, np.log(x / centre) ** 2)

    centres = np.array([0.01, 0.2, 3.3, 20.0, 90.0])
    found, on_edge = minimise_each_from_candidates(function, centres, np.geomspace(0.1, 100, 13))
    assert found[1:3] == pytest.approx(centres[1:3], rel=1e-6)
    assert found[0] == pytest.approx(0.1)
    # Beyond 30 there is no value: the best candidate below it is an edge, too.
    assert found[3:] == pytest.approx([10 ** (5 / 4)] * 2)
    assert on_edge.tolist() == [True, False, False, True, True]
    nothing = minimise_each_from_candidates(lambda a, x: x * np.nan, centres, np.arange(1.0, 4))
    assert not nothing[1].any()
