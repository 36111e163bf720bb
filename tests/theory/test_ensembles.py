"""Averages over networks that share their samples, and over training sets of one network."""

import math

import numpy as np
import pytest

import giantstep
from giantstep import Protocol, SpikedFeatures
from giantstep.validation import InvalidParametersError


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
