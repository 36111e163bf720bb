"""Training times, and names of ways to choose, in place of ridges."""

import numpy as np
import pytest
import xarray as xr

import giantstep
from giantstep.validation import InvalidParametersError

PROBLEM = giantstep.Protocol("tanh", "sin", learning_rate=3, alpha0=2, beta=1, noise=0.1)


def test_times_are_a_dimension_in_place_of_ridges():
    solved = giantstep.solve(PROBLEM, alpha=[1, 2], stop_at=[1, 10])
    assert solved.test_error.dims == ("alpha", "stop_at")
    assert solved.stop_at.values.tolist() == [1, 10]
    assert not {"ridge", "V2", "gcv"} & {*solved.variables}
    swept = giantstep.sweep(PROBLEM, alpha=[1, 2], stop_at=[1, 10], loss="square")
    np.testing.assert_array_equal(swept.test_error, solved.test_error)


def test_the_best_time_is_found_in_three_ways():
    best = giantstep.solve(PROBLEM, stop_at="optimal")
    optimum = giantstep.optimise(PROBLEM, over="stop_at")
    assert optimum.optimal_stop_at.item() == pytest.approx(best.stop_at.item(), rel=1e-2)
    beside = giantstep.solve(PROBLEM, stop_at=best.stop_at.item() * np.array([0.7, 1, 1.4]))
    assert beside.test_error.values.argmin() == 1


def test_networks_agree():
    both = giantstep.compare(PROBLEM, alpha=[0.5, 2], stop_at=[1, 30], dimension=100, networks=12)
    for name in ("test_error", "training_error"):
        assert np.all(np.abs(both[f"z_score_{name}"].sel(theory="finite")) < 4)


@pytest.mark.parametrize("given", [{"stop_at": 0}, {"ridge": 1}, {"loss": "hinge"}])
def test_what_does_not_go_with_times_is_refused(given):
    with pytest.raises(InvalidParametersError, match=f"^{next(iter(given))} = "):
        giantstep.solve(PROBLEM, **{"stop_at": 1} | given)


@pytest.mark.parametrize("word", ["gcv", "leave_one_out", "k_fold"])
def test_a_ridge_may_be_named_by_what_chooses_it_also_that_of_networks(word):
    named = giantstep.solve(PROBLEM, ridge=word)
    xr.testing.assert_identical(named, giantstep.solve(PROBLEM, ridge="optimal", by=word))
    assert "cost_of_choice" in named
    given = {"ridge": word, "dimension": 64}
    both = giantstep.compare(PROBLEM, **given, networks=2)
    theory = giantstep.solve(PROBLEM, **given)
    np.testing.assert_array_equal(both.ridge, theory.ridge)
    np.testing.assert_allclose(both.test_error.sel(theory="finite"), theory.test_error, rtol=1e-9)
    with pytest.raises(InvalidParametersError, match="^ridge = "):
        giantstep.simulate(PROBLEM, ridge=word, dimension=100)
