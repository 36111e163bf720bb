"""The test error of a given network is the limit of many test samples."""

import numpy as np
import pytest
from numpy.random import SeedSequence, default_rng

from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.simulation import simulate as simulation
from giantstep.simulation.exact_test import exact_test
from giantstep.simulation.first_layer import first_layer
from giantstep.simulation.simulate import simulate
from giantstep.simulation.threads import workers


def of_readout(problem, readouts):
    with workers(1) as pool:
        layer = first_layer(problem, Sizes(60), 0, SeedSequence(3), pool)
        return layer, exact_test(problem, layer, readouts, np.zeros(1), pool)


@pytest.mark.parametrize(
    "problem",
    [
        Protocol("tanh", "sign", 2, alpha0=2, beta=1),
        Protocol("hardtanh", "z1+z1*z2", 1, alpha0=2, beta=1, steps=2),
        Protocol("softplus", "sin", 1, alpha0=2, beta=1, covariance="power:1"),
        Protocol("relu", "class", 1, alpha0=2, beta=1, inputs="mixture:1.5"),
        SpikedFeatures("relu", "sin", 1.2, (0.5, 2), 0.8, 0.8, fraction=(0.5, 0.5), bias=(0.5, -1)),
    ],
)
def test_series_are_the_limit_of_many_test_samples(problem, monkeypatch):
    grid, sizes = Grid((0.5, 2.0), (0.1,)), Sizes(80, 1, 20_000)
    exact = simulate(problem, grid, sizes, range(8), 1)
    monkeypatch.setattr(simulation, "has_series", lambda *_: False)
    sampled = simulate(problem, grid, sizes, range(8), 1)
    assert np.array_equal(exact.training_error, sampled.training_error)
    assert not np.any(exact.test_error == sampled.test_error)
    ratio = sampled.test_error / exact.test_error
    assert ratio.mean() == pytest.approx(1, abs=4 * ratio.std() / ratio.size**0.5)
    assert ratio.std() < 0.05
    gap = np.nanmean(sampled.learned_function - exact.learned_function, axis=0)
    assert np.abs(gap).max() < 0.1


@pytest.mark.parametrize("strength", [0.5, 2])
def test_series_are_known_for_error_functions(strength):
    srf, rng = SpikedFeatures("erf", "sign", 1, strength, 1, 1), default_rng(3)
    readout = rng.standard_normal((1, 60)) / 60
    layer, (error, _, resolved) = of_readout(srf, readout)
    weights, theta = layer.weights.astype(float), layer.directions[0].astype(float)
    theta /= np.linalg.norm(theta)
    width = np.sqrt(1 + 2 * np.sum(weights**2, axis=1))
    kernel = 2 / np.pi * np.arcsin(2 * weights @ weights.T / np.outer(width, width))
    # A sign is an erf of infinite slope.
    cross = 2 / np.pi * np.arcsin(np.sqrt(2) * weights @ theta / width)
    expected = 1 - 2 * readout @ cross + readout @ kernel @ readout[0]
    assert resolved.all()
    assert error == pytest.approx(expected, rel=1e-6)


def test_neurons_that_are_too_similar_are_tested_on_samples():
    _, (_, _, resolved) = of_readout(SpikedFeatures("erf", "sign", 1, 1000, 1, 1), np.ones((1, 60)))
    assert not resolved.any()
