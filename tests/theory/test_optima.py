"""Optimal ridges and learning rates are minima."""

from dataclasses import replace

import numpy as np
import pytest

from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.optima import optimal_ridge
from giantstep.theory.readout.readout import Readout
from giantstep.theory.readout.solve import readout_of

ALIGNED = SpikedFeatures("tanh", "sin", 1.0, 0.9, 1.0, beta=1.0)
STEP = Protocol("tanh", "sign", 3.0, alpha0=2.0, beta=1.0)


@pytest.mark.parametrize(
    ("loss", "bulk"),
    [
        ("logistic", "trained"),
        pytest.param("huber", "isotropic", marks=pytest.mark.slow),
        pytest.param("hinge", "isotropic", marks=pytest.mark.slow),
    ],
)
def test_the_best_ridge_of_any_loss_is_a_minimum(loss, bulk):
    best = optimal_ridge(STEP, np.array([1.5]), bulk, dimension=300, loss=loss)
    assert not best.on_edge
    factors = np.array([0.3, 0.8, 1.25, 3.0])
    solver = readout_of(STEP, bulk, loss, dimension=300)
    near = solver.solve(np.full(4, 1.5), best.ridge * factors).test_error
    least = best.solution.test_error
    assert np.all(near > least)
    # The nearer two cost little: the ridge is found much more closely than to a factor.
    assert np.all(near[1:3] < least * 1.05)


@pytest.mark.slow
def test_labels_that_means_separate_have_a_best_ridge_at_finite_dimension_only():
    step = replace(STEP, alpha0=np.inf)
    limit, finite = (
        optimal_ridge(step, np.array([2.0]), dimension=d, loss="logistic") for d in (np.inf, 300)
    )
    assert np.isnan(limit.solution.test_error).all()  # nothing holds their coefficients down
    assert finite.solution.test_error < 0.5
    assert not finite.on_edge


def test_no_best_ridge_is_given_where_no_point_has_an_error(monkeypatch):
    points = Readout.solve

    def failing(self, alpha, ridge):
        found = points(self, alpha, ridge)
        found.test_error[alpha > 1] = np.nan
        return found

    monkeypatch.setattr(Readout, "solve", failing)
    found = optimal_ridge(ALIGNED, np.array([0.5, 2.0]))
    assert np.isfinite(found.solution.test_error).tolist() == [True, False]
    assert not found.on_edge.any()


def test_the_best_ridge_of_a_small_step_is_another_at_finite_dimension():
    protocol = Protocol("tanh", "sin", 1, alpha0=np.inf, beta=1)
    limit, finite = (
        optimal_ridge(protocol, np.array([2.0]), dimension=d).ridge.item() for d in (np.inf, 1000)
    )
    assert limit == pytest.approx(182, abs=1)
    assert 1 < finite < 10
