"""Plans are the best ways to spend their budgets."""

from dataclasses import replace

import numpy as np
import pytest

import giantstep
from giantstep.questions.plan import operations

PROBLEM = giantstep.Protocol("tanh", "sin", 3, alpha0=1, beta=1)


def test_no_split_beside_the_best_is_better():
    samples = 6.0
    best = giantstep.plan(PROBLEM, samples, max_steps=2, ridge=0.1, bulk="isotropic")
    for steps in (1, 2):
        plan = best.sel(steps=steps)
        alpha0 = plan.optimal_alpha0.item()
        assert steps * alpha0 + plan.optimal_alpha.item() == pytest.approx(samples)
        errors = [
            giantstep.solve(
                replace(PROBLEM, alpha0=x, steps=steps), samples - steps * x, 0.1, bulk="isotropic"
            ).test_error.item()
            for x in alpha0 * np.array([1, 0.9, 1.1])
        ]
        assert errors[0] == pytest.approx(plan.optimal_test_error.item()) == min(errors)
    without = giantstep.solve(replace(PROBLEM, alpha0=0), samples, 0.1, bulk="isotropic").test_error
    assert best.optimal_test_error.sel(steps=0).item() == pytest.approx(without.item())
    assert best.cost_of_plan.min() == 0
    assert (best.reliable_dimension > best.reliability).all()


def test_operations_are_spent_on_width():
    best = giantstep.plan(
        PROBLEM, 6, flops=1e9, max_steps=1, ridge=0.1, dimension=300, bulk="isotropic"
    )
    assert np.allclose(best.flops, 1e9)
    one = best.sel(steps=1)
    made = replace(PROBLEM, alpha0=one.optimal_alpha0.item(), beta=one.optimal_beta.item())
    assert operations(made, one.optimal_alpha.item(), 300) == pytest.approx(1e9)


def test_what_is_no_budget_is_refused_together():
    with pytest.raises(giantstep.InvalidParametersError) as refused:
        giantstep.plan(PROBLEM, by="classification_error", loss="hinge", max_hours=9)
    assert {fault.name for fault in refused.value.faults} >= {"samples", "by", "loss"}
    with pytest.raises(giantstep.InvalidParametersError, match="dimension = inf"):
        giantstep.plan(PROBLEM, flops=1e9)


def test_plans_by_the_classification_error():
    sign, by = replace(PROBLEM, target="sign"), "classification_error"
    best = giantstep.plan(sign, 3, max_steps=1, ridge=1, bulk="isotropic", by=by).sel(steps=1)
    made = replace(sign, alpha0=best.optimal_alpha0.item())
    known = giantstep.solve(made, best.optimal_alpha.item(), 1, bulk="isotropic")[by]
    assert best.optimal_classification_error.item() == pytest.approx(known.item(), rel=1e-6)
