"""The distribution function of N(0, 1) is that of scipy."""

import numpy as np
import pytest
from scipy.special import ndtr

from giantstep.numerics.normal_distribution import normal_distribution


def test_probabilities_are_right_to_fourteen_digits_far_into_the_lower_tail():
    t = np.concatenate([np.linspace(-8, 9, 4001), [-1e100, -np.inf, np.inf, 1e100]])
    probability, density = normal_distribution(t)
    assert probability == pytest.approx(ndtr(t), rel=2e-14, abs=1e-137)
    assert density[2000] == pytest.approx(np.exp(-(t[2000] ** 2) / 2) / np.sqrt(2 * np.pi))
