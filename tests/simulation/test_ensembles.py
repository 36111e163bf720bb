"""Averages over networks that share their samples, beside the theory."""

import numpy as np
import pytest

import giantstep
from giantstep import Protocol, SpikedFeatures
from giantstep.validation import InvalidParametersError

PROBLEM = Protocol("tanh", "sin", 2, alpha0=4, beta=1, noise=0.1)
SIZES = {"dimension": 120, "networks": 8, "test_samples": 2000}
NAMES = "ensemble_error", "variance_of_weights", "variance_of_samples", "squared_bias"


def test_ensembles_of_networks_have_the_variances_of_the_theory():
    data = giantstep.compare(
        PROBLEM, 1.0, 0.05, ensemble=3, trainings=3, **SIZES | {"networks": 24}
    )
    scores = [data["z_score_" + name].sel(theory="finite").item() for name in NAMES]
    assert np.all(np.abs(scores) < 4), scores


def test_a_comparison_has_the_theory_of_infinitely_many_networks():
    data = giantstep.compare(PROBLEM, 1.0, 0.05, ensemble=np.inf, **SIZES)
    theory = giantstep.solve(PROBLEM, 1.0, 0.05, ensemble=np.inf)
    assert data.ensemble_error.sel(theory="limit") == theory.ensemble_error
    assert "simulated_ensemble_error_mean" not in data


def test_an_ensemble_of_one_is_a_network_and_its_members_leave_other_answers_alone():
    plain = giantstep.simulate(PROBLEM, [1, 2], 0.05, **SIZES)
    one = giantstep.simulate(PROBLEM, [1, 2], 0.05, ensemble=1, **SIZES)
    np.testing.assert_array_equal(one.test_error, plain.test_error)
    np.testing.assert_allclose(one.ensemble_error, plain.test_error, rtol=0.05)
    assert one.variance_of_weights.isnull().all()


@pytest.mark.parametrize("changes", [{"loss": "huber"}, {"ensemble": 1.5}])
def test_what_ensembles_of_networks_do_not_have_is_refused(changes):
    with pytest.raises(InvalidParametersError, match="ensemble"):
        giantstep.simulate(PROBLEM, **(SIZES | {"ensemble": 2} | changes))


def test_features_that_are_gaussian_given_the_spike_have_no_ensembles():
    features = SpikedFeatures("tanh", "sin", 1, 1, 1, 1, model="conditional_gaussian")
    with pytest.raises(InvalidParametersError, match="features of networks"):
        giantstep.simulate(features, ensemble=2, **SIZES)
