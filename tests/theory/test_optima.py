"""Optimal ridges and learning rates are minima."""

from dataclasses import replace

import numpy as np

from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.optima import optimal_learning_rate, optimal_ridge
from giantstep.theory.solve import solve

ALIGNED = [
    SpikedFeatures("tanh", "sin", 1.0, 0.9, 1.0, beta=1.0),
    SpikedFeatures("erf", "sign", 1.0, 2.0, -1.0, beta=0.5, noise=0.1),
    SpikedFeatures("tanh", "sin", (1.0, 1.5), (0.5, 2.0), 1.0, 1.0, fraction=(0.4, 0.6)),
    SpikedFeatures("relu", "he3", 1.0, (1.0, -1.0), 1.0, 2.0, fraction=(0.5, 0.5), bias=(0.5, 0)),
]


def test_the_best_learning_rate_is_a_minimum():
    protocol = Protocol("tanh", "sign", 1.0, alpha0=2.0, beta=1.0)
    rate, error = optimal_learning_rate(protocol, 1.0, 0.1)
    for factor in (0.8, 1.0, 1.2):
        near = solve(replace(protocol, learning_rate=rate * factor), Grid((1.0,), (0.1,)))
        assert near.test_error.item() >= error * (1 - 1e-9)


def test_no_best_ridge_is_given_where_no_point_has_an_error(monkeypatch):
    from giantstep.theory.solve import Solver

    points = Solver.solve

    def failing(self, alpha, ridge):
        found = points(self, alpha, ridge)
        found.test_error[alpha > 1] = np.nan
        return found

    monkeypatch.setattr(Solver, "solve", failing)
    _, found = optimal_ridge(ALIGNED[0], np.array([0.5, 2.0]))
    assert np.isfinite(found.test_error).tolist() == [True, False]
