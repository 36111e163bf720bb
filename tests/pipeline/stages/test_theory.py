"""What the stages "theory" and "learning_rates" store."""

import numpy as np
import pytest

from giantstep.pipeline.stages import learning_rates, theory
from giantstep.pipeline.storage.description import describe
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.theory import optima
from giantstep.theory.readout.solve import solve


@pytest.mark.parametrize(("ridges", "at_edge"), [((0.1, 0.5, 3.0), 0), ((3.0, 5.0, 10.0), 1)])
def test_the_best_ridge_of_any_loss_is_stored_with_whether_it_is_at_an_edge(
    monkeypatch, ridges, at_edge
):
    few = optima.search_of("huber")._replace(ridges=np.array(ridges))
    monkeypatch.setattr(optima, "_CONVEX_SEARCH", few)
    protocol = Protocol("tanh", "sin", 3, alpha0=2, beta=1, noise=0.1)
    grid = Grid((2.0,), (0.1,), "huber")
    found = describe(theory.compute(protocol, grid, optimal=True, dimension=100), "theory", {})
    best = optima.optimal_ridge(protocol, np.array([2.0]), dimension=100, loss="huber")
    assert found["finite_size_optimal_ridge"].item() == best.ridge.item()
    least = best.solution.test_error.item()
    assert found["finite_size_optimal_test_error"].item() == least
    assert found["finite_size_optimal_ridge_on_edge"].item() == at_edge


def test_errors_by_learning_rate_are_those_of_protocols_with_that_rate_and_as_many_steps():
    protocol, grid = Protocol("tanh", "sign", 1, alpha0=2, beta=1, steps=2), Grid((1.0,), (0.1,))
    found = learning_rates.compute(protocol, grid, "trained", (2.0, 1e11))
    errors = found["test_error_by_learning_rate"].squeeze(("alpha", "ridge"))
    for k in (1, 2):
        at = Protocol("tanh", "sign", 2, alpha0=2, beta=1, steps=k)
        same = solve(at, grid, "trained").test_error.item()
        assert errors.sel(theory_learning_rate=2, step=k) == same
    assert np.isnan(errors.sel(theory_learning_rate=1e11, step=2))  # too large a step
