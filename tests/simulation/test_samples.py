"""Labels have the outliers that the problem asks for."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng

from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.simulation.arithmetic import ROWS
from giantstep.simulation.samples import draw_samples

PROTOCOL = Protocol("tanh", "sign", 2, alpha0=1, beta=1)


def test_labels_have_the_outliers_asked_for():
    srf = SpikedFeatures("tanh", "sin", 1, 1, 1, 1, noise=0.01)
    outliers = replace(srf, outlier_fraction=0.2, outlier_variance=100)
    directions = np.eye(1, 5, dtype=np.float32)

    def noise(problem, count, seed):
        drawn = draw_samples(problem, directions, count, default_rng(seed))
        return drawn.labels - drawn.clean

    drawn = np.concatenate([noise(outliers, ROWS, seed) for seed in range(20)])
    far = np.abs(drawn) > 0.5
    assert far.mean() == pytest.approx(0.2 * 0.96, abs=0.01)
    assert drawn.var() == pytest.approx(20, rel=0.05)
    assert drawn[~far].std() < 0.15
    assert np.array_equal(noise(outliers, 10, 3), noise(outliers, ROWS, 3)[:10])
    some = np.isclose(noise(outliers, ROWS, 3), noise(srf, ROWS, 3), rtol=0, atol=1e-12)
    assert some.mean() == pytest.approx(0.8, abs=0.05)


def test_labels_are_reversed_as_often_as_asked_for_and_the_clean_ones_are_not():
    problem = replace(PROTOCOL, label_flips=0.3)
    drawn = draw_samples(problem, np.eye(1, 5, dtype=np.float32), ROWS, default_rng(0))
    labels = drawn.labels
    np.testing.assert_array_equal(drawn.clean, np.sign(drawn.along))
    np.testing.assert_array_equal(np.abs(labels), np.abs(drawn.clean))
    assert np.mean(labels != drawn.clean) == pytest.approx(0.3, abs=0.05)


def test_problems_without_outliers_have_the_samples_that_they_had():
    samples = draw_samples(PROTOCOL, np.eye(1, 3, dtype=np.float32), 2, default_rng(0))
    rng = default_rng(0)
    rng.standard_normal(ROWS)
    assert np.array_equal(samples.inputs, rng.standard_normal((2, 3), np.float32))
