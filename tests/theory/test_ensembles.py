"""Averages over networks that share their samples, and over training sets of one network."""

import math

import numpy as np
import pytest

import giantstep
from giantstep import Protocol, SpikedFeatures
from giantstep.validation import InvalidParametersError

RIDGE, DIMENSION = 0.05, 120


def outputs_of_networks(rng, networks=3, sets=3):
    """Train networks on one batch and several training sets: residuals, (networks, sets, tests)."""
    d, p, batch, samples = DIMENSION, DIMENSION, 4 * DIMENSION, DIMENSION
    theta = np.eye(d)[0]

    def draw(count):
        inputs = rng.standard_normal((count, d))
        return inputs, np.sin(inputs @ theta) + math.sqrt(0.1) * rng.standard_normal(count)

    (X, y), data, (tests, _) = draw(batch), [draw(samples) for _ in range(sets)], draw(3000)
    residuals = np.empty((networks, sets, 3000))
    for network in range(networks):
        W = rng.standard_normal((p, d))
        W /= np.linalg.norm(W, axis=1)[:, None]
        hidden = np.tanh(X @ W.T)
        W += 2 * d / p / batch * ((1 - hidden**2) * (y - hidden.mean(axis=1))[:, None]).T @ X
        for place, (inputs, labels) in enumerate(data):
            features = np.tanh(inputs @ W.T) / math.sqrt(p)
            gram = features.T @ features + RIDGE * np.eye(p)
            readout = np.linalg.solve(gram, features.T @ labels)
            output = np.tanh(tests @ W.T) / math.sqrt(p) @ readout
            residuals[network, place] = np.sin(tests @ theta) - output
    return residuals


def mean_products(residuals):
    """Return the errors of one network, of ensembles, of averages over sets, and over both."""
    products = np.einsum("nst,mut->nsmu", residuals, residuals) / residuals.shape[-1]
    same = np.eye(len(residuals), dtype=bool)
    network, sets = np.broadcast_arrays(same[:, None, :, None], same[None, :, None, :])
    cases = [network & sets, ~network & sets, network & ~sets, ~network & ~sets]
    return [products[case].mean() for case in cases]


def test_networks_have_the_variances_of_the_theory():
    rng = np.random.default_rng(0)
    drawn = np.array([mean_products(outputs_of_networks(rng)) for _ in range(10)])
    problem = Protocol("tanh", "sin", 2, alpha0=4, beta=1, noise=0.1)
    found = giantstep.solve(problem, 1.0, RIDGE, dimension=DIMENSION, ensemble=math.inf)
    one, bias = found.test_error, found.squared_bias
    expected = [one, found.ensemble_error, one - found.variance_of_samples, bias]
    error = drawn.std(axis=0) / math.sqrt(len(drawn))
    assert np.all(np.abs(drawn.mean(axis=0) - np.array(expected)) < 3.5 * error)


@pytest.mark.parametrize("bulk", ["isotropic", "trained"])
@pytest.mark.parametrize("readout", [((1, 1),), ((1, 0.5), (2, 0.5))])
def test_wide_networks_vary_by_their_samples_alone_and_many_samples_leave_the_weights(
    bulk, readout
):
    of = {"noise": 0.3, "readout": readout}
    wide = giantstep.solve(
        Protocol("tanh", "sin", 60, 4, beta=40, **of), 1, 0.1, bulk=bulk, ensemble=1
    )
    assert 0 < wide.variance_of_weights < 0.03 * wide.variance_of_samples
    many = giantstep.solve(
        Protocol("tanh", "sin", 2, 4, beta=0.5, **of), 200, 0.1, bulk=bulk, ensemble=1
    )
    assert 0 < many.variance_of_samples < 0.05 * many.variance_of_weights
    assert many.ensemble_error == many.test_error


def test_errors_of_ensembles_fall_as_one_over_their_size_and_are_those_of_a_sweep():
    features = SpikedFeatures("tanh", "sin", 1.2, 1.5, alignment=0.9, beta=1)
    given = {"alpha": 1, "ridge": [0, 0.1]}
    two, many = (giantstep.sweep(features, **given, ensemble=k) for k in (2, math.inf))
    half = (many.ensemble_error + many.test_error) / 2
    np.testing.assert_allclose(two.ensemble_error, half, rtol=1e-12)
    np.testing.assert_allclose(many.ensemble_error, many.test_error - many.variance_of_weights)


@pytest.mark.parametrize("given", [{"ensemble": 0.5}, {"ensemble": 2, "loss": "huber"}])
def test_ensembles_are_of_one_network_or_more_with_the_square_loss(given):
    features = SpikedFeatures("tanh", "sin", 1.2, 1.5, alignment=0.9, beta=1)
    with pytest.raises(InvalidParametersError, match="ensemble"):
        giantstep.solve(features, **given)
