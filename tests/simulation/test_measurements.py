"""The closed form of the test error is the limit of many test samples."""

import numpy as np
import pytest
from numpy.random import SeedSequence, default_rng

from giantstep.numerics.function_table import FUNCTIONS
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.simulation.first_layer import first_layer
from giantstep.simulation.measurements import exact_test
from giantstep.simulation.simulate import simulate
from giantstep.simulation.threads import workers


def layer_of(problem, sizes, network=0, seed=3):
    with workers(1) as pool:
        return first_layer(problem, sizes, network, SeedSequence(seed), pool)


@pytest.mark.parametrize(
    "problem",
    [
        Protocol("erf", "sign", 2, alpha0=2, beta=1),
        SpikedFeatures("relu", "sin", 1.2, (0.5, 2), 0.8, 0.8, fraction=(0.5, 0.5)),
    ],
)
def test_the_closed_form_test_is_the_limit_of_many_test_samples(problem):
    grid = Grid((0.5, 2.0), (0.1,))
    exact = simulate(problem, grid, Sizes(80, 1, "exact"), range(8), 1)
    sampled = simulate(problem, grid, Sizes(80, 1, 20_000), range(8), 1)
    assert np.array_equal(exact.training_error, sampled.training_error)
    for name, spread in (("test_error", 0.01), ("learned_function", 0.06)):
        gap = getattr(sampled, name) - getattr(exact, name)
        assert np.abs(np.nanmean(gap, axis=0)).max() < spread
    ratio = sampled.test_error / exact.test_error
    assert ratio.mean() == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("strength", [1, 1000])
def test_the_closed_form_test_resolves_strong_spikes(strength):
    srf, rng = SpikedFeatures("erf", "sign", 1, strength, 1, 1), default_rng(3)
    layer, readout = layer_of(srf, Sizes(60)), rng.standard_normal((1, 60)) / 60
    weights, theta = layer.weights.astype(float), layer.theta.astype(float)
    theta /= np.linalg.norm(theta)
    A = np.sum(weights**2, axis=1)
    kernel = FUNCTIONS["erf"].covariance(weights @ weights.T, A[:, None], A)
    # A sign is an erf of infinite slope.
    cross = 2 / np.pi * np.arcsin(2 * weights @ theta / np.sqrt(2 * (1 + 2 * A)))
    expected = 1 - 2 * readout @ cross + readout @ kernel @ readout[0]
    assert exact_test(srf, layer, readout)[0] == pytest.approx(expected, rel=1e-7)
