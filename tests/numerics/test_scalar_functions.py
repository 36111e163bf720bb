"""Derivatives, parities and covariances are those of the values."""

import numpy as np
import pytest

from giantstep.numerics.function_table import FUNCTIONS


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_derivatives_and_parities_are_those_of_the_values(name):
    f, x, h = FUNCTIONS[name], np.array([-2.3, -0.7, 0.4, 1.6]), 1e-6
    slopes = (f.value(x + h) - f.value(x - h)) / (2 * h)
    assert f.derivative(x) == pytest.approx(slopes, rel=1e-7, abs=1e-7)
    signs = {"odd": [-1], "even": [1], "none": []}[f.parity]
    for sign in (-1, 1):
        assert np.allclose(f.value(-x), sign * f.value(x)) == (sign in signs)
