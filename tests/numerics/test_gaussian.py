"""Expectations are right to 1e-10 for smooth functions, and to 1e-8 for those with kinks."""

import numpy as np
import pytest
from scipy.integrate import quad

from giantstep.numerics.function_table import FUNCTIONS
from giantstep.numerics.gaussian import hermite_coefficients, moments
from giantstep.numerics.scalar_functions import lookup


def expect(g, breaks):
    """E g(z) by adaptive quadrature between breaks."""

    def integrand(z):
        return g(z) * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)

    ends = np.unique(np.clip([-12, *np.arange(-9, 10), *breaks, 12], -12, 12))
    pieces = zip(ends[:-1], ends[1:], strict=True)
    return sum(quad(integrand, a, b, epsabs=1e-13, epsrel=1e-12, limit=200)[0] for a, b in pieces)


@pytest.mark.parametrize("name", [*sorted(FUNCTIONS), "polynomial:1,-2,0,0.5"])
@pytest.mark.parametrize(("mean", "std"), [(0.3, 1.3), (-1.1, 0.4), (2.0, 7.0)])
def test_gaussian_moments_agree_with_adaptive_quadrature(name, mean, std):
    f = lookup(name)
    breaks = [(k - mean) / std for k in (*f.kinks, -4, -1, 0, 1, 4)]
    found = moments(f, np.array(mean), std)
    size = max(1, float(found.second))
    for value, g in (
        (found.mean, lambda z: f.value(mean + std * z)),
        (found.slope, lambda z: z * f.value(mean + std * z)),
        (found.second, lambda z: f.value(mean + std * z) ** 2),
    ):
        assert float(value) == pytest.approx(expect(g, breaks), rel=1e-10, abs=1e-10 * size)


def test_moments_at_many_means_are_those_at_each():
    means = np.linspace(-5, 5, 2001).reshape(3, 667)
    many, one = (moments(FUNCTIONS["tanh"], at, 1.3) for at in (means, means[2, 5]))
    assert many.residual.shape == means.shape
    assert many.residual[2, 5] == one.residual


@pytest.mark.parametrize("name", ["sign", "relu"])
def test_rough_rules_have_exact_moments(name):
    """Solutions on a rule of few nodes with others would be far from those on a fine one."""
    rough, usual = (moments(lookup(name), np.linspace(-3, 3, 7), 0.5, k) for k in (1 / 6, 1))
    np.testing.assert_array_equal(rough, usual)


def test_hermite_coefficients_of_the_sign_are_known():
    found = hermite_coefficients(FUNCTIONS["sign"], 40)
    assert found[0::2] == pytest.approx(0, abs=1e-11)
    odd = [np.sqrt(2 / np.pi)]  # a_{k+2}/a_k = -k / sqrt((k+1)(k+2))
    for k in range(1, 39, 2):
        odd.append(-odd[-1] * k / np.sqrt((k + 1) * (k + 2)))
    assert found[1::2] == pytest.approx(odd, abs=1e-11)
