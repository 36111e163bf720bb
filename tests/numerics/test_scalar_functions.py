"""Derivatives, parities and covariances are those of the values."""

import numpy as np
import pytest

from giantstep.numerics.function_table import FUNCTIONS
from giantstep.numerics.quadrature import split_rule, unit_edges
from giantstep.numerics.scalar_functions import lookup


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_derivatives_and_parities_are_those_of_the_values(name):
    f, x, h = FUNCTIONS[name], np.array([-2.3, -0.7, 0.4, 1.6]), 1e-6
    slopes = (f.value(x + h) - f.value(x - h)) / (2 * h)
    assert f.derivative(x) == pytest.approx(slopes, rel=1e-7, abs=1e-7)
    signs = {"odd": [-1], "even": [1], "none": []}[f.parity]
    for sign in (-1, 1):
        assert np.allclose(f.value(-x), sign * f.value(x)) == (sign in signs)


@pytest.mark.parametrize(
    "name",
    ["erf", "sign", "sin", "relu", "leaky_relu", "abs", "probit", "he3", "polynomial:1,1,0.5"],
)
def test_closed_form_covariances_are_expectations(name):
    function, (A, B, C) = lookup(name), (1.3, 0.7, -0.6)
    assert function.moments is not None
    z, weights = split_rule(unit_edges(np.array(function.kinks)), 2)
    a = np.sqrt(A) * z
    given = function.moments(C / A * a, np.sqrt(B - C**2 / A)).mean
    expected = weights @ (function.value(a) * given)
    found = function.covariance(np.array([C]), np.array([A]), np.array([B]))
    assert found == pytest.approx(expected, rel=1e-9)
