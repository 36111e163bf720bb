"""A minimum is found to the tolerance, inside the interval and at its ends."""

import math

import numpy as np
import pytest

from giantstep.numerics.minimisation import minimise_from_candidates

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
