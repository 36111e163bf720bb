"""Outliers at finite dimension, against simulated features and equation (191)."""

import pytest
from networks import assert_near

from giantstep.problems.spiked_features import one_spike
from giantstep.questions.networks import eigenvalues
from giantstep.theory.outliers import outliers_at
from giantstep.theory.spectral_density import SpectralDensity
from giantstep.theory.spectrum import outliers

# Of Figure 8; the third letter's mean features are nearly those of the others.
LETTERS = ((0.5, 0.3), (1.0, 0.4), (3.0, 0.3))
SRF = one_spike("tanh", "sign", 1.2, 1.0, alignment=0.8, beta=0.8, readout=LETTERS)
ALPHA, EDGE = 2.0, 3.6


def test_a_small_outlier_is_that_of_simulated_features():
    d, networks = 600, 6
    found = outliers_at(SRF, ALPHA, d, EDGE)
    simulated = eigenvalues(SRF, ALPHA, dimension=d, networks=range(networks), seed=0)
    values = simulated.simulated_eigenvalue.values[:, -1:-3:-1]
    assert_near(values[:, None], found)


def test_outliers_tend_to_those_of_the_limit():
    limit = outliers(SpectralDensity(SRF, ALPHA))
    assert outliers_at(SRF, ALPHA, 1e5, EDGE)[:2] / 1e5 == pytest.approx(limit[:2], rel=5e-3)
    assert outliers_at(SRF, ALPHA, 600, EDGE)[1] > 1.2 * limit[1] * 600
