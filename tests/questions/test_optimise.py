"""The optimum is the least of the whole profile, and says where it is none."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import giantstep
from giantstep import InvalidParametersError, Protocol, SpikedFeatures
from giantstep.theory.optima import CRITERIA

PROTOCOL = Protocol("tanh", "sin", learning_rate=3, alpha0=2, beta=1)
TWO = Protocol("tanh", "sin", 3, 2, 1, readout=((1, 0.5), (-2, 0.5)))
RATES, RIDGES = np.geomspace(0.1, 30, 4), np.geomspace(1e-4, 1e2, 5)


def test_joint_optima_are_below_the_whole_profile_which_is_that_of_a_sweep():
    over = {"learning_rate": RATES, "ridge": RIDGES}
    given = {"bulk": "isotropic", "dimension": 500}
    found = giantstep.optimise(PROTOCOL, over, alpha=[1, 2], **given)
    swept = giantstep.sweep(PROTOCOL, alpha=[1, 2], **over, **given)
    np.testing.assert_allclose(found.test_error, swept.test_error, rtol=1e-9)
    assert (found.optimal_test_error < found.test_error.min(["learning_rate", "ridge"])).all()
    assert not found.optimal_learning_rate_on_edge.any()
    assert giantstep.optimise(PROTOCOL, ridge=[0.1], bulk="isotropic").sizes["ridge"] == 1
    at = found.sel(alpha=2)
    best = Protocol("tanh", "sin", at.optimal_learning_rate.item(), 2, 1)
    error = giantstep.solve(best, 2, at.optimal_ridge.item(), **given).test_error
    np.testing.assert_allclose(at.optimal_test_error, error, rtol=1e-9)


@pytest.mark.parametrize(
    ("problem", "over", "names"),
    [
        (PROTOCOL, "ridge", ["ridge"]),
        (TWO, {"readout": [-2, -1, 0, 1, 2]}, ["letter_2"]),
        (TWO, {"readout": [-1, 1], "learning_rate": [1, 3]}, ["letter_2", "learning_rate"]),
        (SpikedFeatures("tanh", "relu", 1, 1, 1, 1), {"bias": [-1, 0, 1]}, ["bias"]),
    ],
)
def test_an_optimum_is_better_than_what_was_given(problem, over, names):
    found = giantstep.optimise(problem, over, alpha=2, dimension=200)
    assert found.optimal_test_error < giantstep.solve(problem, 2, dimension=200).test_error
    assert set(names) <= set(found.test_error.dims)
    assert all(f"optimal_{name}_on_edge" in found for name in names)


def test_an_optimum_at_an_end_of_the_candidates_is_told():
    found = giantstep.optimise(PROTOCOL, {"learning_rate": [0.01, 0.02]}, dimension=200)
    assert found.optimal_learning_rate_on_edge
    assert "best learning rate is an end of the range searched (0.01 to 0.02)" in found.remarks


def test_a_limit_that_is_far_is_told_with_the_dimension_where_it_is_near():
    far = Protocol("erf", "relu", learning_rate=1, alpha0=2, beta=1)
    found = giantstep.optimise(far, {"learning_rate": [0.01, 0.1]}, alpha=1.5)
    best = replace(far, learning_rate=found.optimal_learning_rate.item())
    sizes = found.reliable_dimension.item() * np.array([0.8, 1.25])
    errors = giantstep.sweep(best, alpha=1.5, dimension=sizes).test_error
    below, beyond = abs(errors / found.optimal_test_error - 1).values
    assert below > 0.05 > beyond
    assert "within 5% of this limit from d = 110000 on" in found.remarks


def test_what_the_theory_leaves_out_at_an_optimum_is_told():
    """Networks of this dimension are 9 % off."""
    few = Protocol("tanh", "tanh", learning_rate=4, alpha0=0.3, beta=1)
    found = giantstep.optimise(few, {"ridge": [1e-4, 1e-3]}, dimension=100)
    solved = giantstep.solve(few, ridge=found.optimal_ridge.item(), dimension=100)
    assert found.reliability.item() == pytest.approx(solved.reliability.item())
    assert found.reliability > 0.05
    assert "inputs at which hardly any neuron varies" in found.remarks


def test_all_faults_of_a_search_are_told_at_once():
    features = SpikedFeatures("tanh", "sin", 1, 1, 0.5, 1)
    for over, given, names in (
        ({"learnin_rate": None}, {"alpha": 0, "dimension": 1}, ["over", "alpha", "dimension"]),
        ({"readout": None, "ridge": [0.1]}, {"by": "classification_error"}, ["by", "over"]),
    ):
        with pytest.raises(InvalidParametersError) as refused:
            giantstep.optimise(features, over, **given)
        assert [fault.name for fault in refused.value.faults] == names


def test_an_optimal_ridge_is_one_that_is_searched_for_with_the_others():
    rates, shares = {"learning_rate": [0.3, 1, 3]}, []
    found = giantstep.optimise(
        PROTOCOL, rates, ridge="optimal", bulk="isotropic", progress=shares.append
    )
    xr.testing.assert_identical(
        found, giantstep.optimise(PROTOCOL, rates | {"ridge": None}, bulk="isotropic")
    )
    assert shares == sorted(shares)
    assert shares[0] < 0.5 < shares[-1] == 1


SIGN = Protocol("tanh", "sign", learning_rate=3, alpha0=2, beta=1)


@pytest.mark.parametrize("question", [giantstep.solve, giantstep.sweep])
def test_a_ridge_is_the_best_by_the_error_that_was_chosen(question):
    by_square, by_sign = (question(SIGN, alpha=1, ridge="optimal", by=by) for by in CRITERIA[:2])
    candidates = giantstep.solve(SIGN, alpha=1, ridge=np.geomspace(1e-3, 1e3, 13))
    for best, name in ((by_square, "test_error"), (by_sign, "classification_error")):
        assert best[name] < candidates[name].min()
    assert by_sign.classification_error < by_square.classification_error
    assert by_sign.by == "classification_error"


def test_the_learning_rate_is_the_best_by_the_classification_error():
    by = {"by": "classification_error"}
    found = giantstep.optimise(SIGN, {"learning_rate": [1, 4, 16]}, **by)
    assert found.optimal_classification_error < found.classification_error.min()
    with pytest.raises(InvalidParametersError, match="test_error, leave_one_out, .* this target"):
        giantstep.optimise(PROTOCOL, **by)
    with pytest.raises(InvalidParametersError, match="given with ridge optimal"):
        giantstep.sweep(SIGN, **by)


def test_a_bias_is_for_inputs_without_a_covariance():
    problem = replace(PROTOCOL, covariance="power:1.5")
    with pytest.raises(InvalidParametersError, match="over = 'bias': must be left out"):
        giantstep.optimise(problem, "bias", dimension=100)
