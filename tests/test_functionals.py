"""Bounds, optima and learned functions are where theory.md section 7 says."""

from dataclasses import replace

import numpy as np
import pytest

from giantstep.problems.protocol import Grid, Protocol, SpikedFeatures, one_spike
from giantstep.problems.sizes import Sizes
from giantstep.simulation.measurements import SLABS
from giantstep.simulation.replicate_statistics import summarise
from giantstep.simulation.simulate import simulate
from giantstep.theory.bounds import (
    best_linear_error,
    best_over_learning_rate,
    bounds,
    lower_bound_with_bias,
    shifted,
)
from giantstep.theory.conditional_features import student
from giantstep.theory.learned_function import learned_function
from giantstep.theory.optima import optimal_learning_rate, optimal_ridge
from giantstep.theory.solve import solve
from giantstep.validation import InvalidParametersError

ALIGNED = [
    SpikedFeatures("tanh", "sin", 1.0, 0.9, 1.0, beta=1.0),
    SpikedFeatures("erf", "sign", 1.0, 2.0, -1.0, beta=0.5, noise=0.1),
    SpikedFeatures("tanh", "sin", (1.0, 1.5), (0.5, 2.0), 1.0, 1.0, fraction=(0.4, 0.6)),
    SpikedFeatures("relu", "he3", 1.0, (1.0, -1.0), 1.0, 2.0, fraction=(0.5, 0.5), bias=(0.5, 0)),
]


@pytest.mark.parametrize("srf", ALIGNED)
def test_error_optimised_over_the_ridge_lies_between_its_bounds(srf):
    found = bounds(srf)
    ridges, best = optimal_ridge(srf, np.array([0.1, 1.0, 100.0]))
    assert found.lower < found.upper
    assert np.all(best.test_error >= found.lower)
    assert np.all(best.test_error <= found.upper * (1 + 1e-6))
    # mu0 is of order sqrt(d) in the readout's problem: no finite ridge shrinks it.
    limit = solve(srf, Grid((0.1, 100.0), (1e9,))).test_error
    assert limit == pytest.approx(found.upper, rel=1e-5)
    for factor in (0.9, 1.1):  # the optimum is one
        near = [solve(srf, Grid((a,), (r * factor,))).test_error.item()
                for a, r in zip((0.1, 1.0, 100.0), ridges, strict=True)]  # fmt: skip
        assert np.all(near >= best.test_error * (1 - 1e-9))


def test_bounds_are_realised_by_their_coefficients():
    srf, rng = ALIGNED[2], np.random.default_rng(0)
    found, kappa = bounds(srf), rng.standard_normal(400_000)
    mu0, mu1, _ = student(srf, kappa)
    target = np.sin(kappa)
    upper = np.mean((target - found.upper_coefficients @ mu0) ** 2)
    both = np.concatenate([mu0, kappa * mu1])
    lower = np.mean((target - found.lower_coefficients @ both) ** 2)
    assert upper == pytest.approx(found.upper, rel=0.01)
    assert lower == pytest.approx(found.lower, rel=0.15)


def test_a_bias_and_a_free_learning_rate_only_lower_the_bounds():
    protocol = Protocol("tanh", "sin", 1.0, alpha0=np.inf, beta=1.0)
    fixed, (upper, lower) = bounds(protocol), best_over_learning_rate(protocol)
    assert upper < fixed.upper
    assert lower < fixed.lower
    rates = [replace(protocol, learning_rate=rate) for rate in np.geomspace(0.3, 30, 12)]
    assert upper <= min(bounds(rated).upper for rated in rates)
    shifted_target = SpikedFeatures("tanh", "relu", 1.0, 1.0, 1.0, beta=1.0)
    with_bias = lower_bound_with_bias(shifted_target)
    assert with_bias < 0.5 * bounds(shifted_target).lower
    assert with_bias <= bounds(shifted(shifted_target, 0.7)).lower


def test_a_richer_vocabulary_has_a_lower_bound():
    one = SpikedFeatures("tanh", "sin", 1.0, 1.0, 1.0, beta=1.0)
    two = replace(one, spike_strength=(1.0, 2.0), fraction=(0.5, 0.5))
    many = replace(one, spike_strength=(1.0, 2.0, 3.0), fraction=(0.4, 0.3, 0.3))
    assert bounds(many).lower < bounds(two).lower < bounds(one).lower


def test_quenched_biases_bring_even_functions_within_reach():
    features = {"bulk_variance": 1, "spike_strength": 1, "alignment": 1, "beta": 1}
    half = ((-1, 0.5), (1, 0.5))
    biased = one_spike("tanh", "relu", **features, readout=((1, 0.25), (-1, 0.75)), bias=half)
    assert biased.fraction == (0.125, 0.125, 0.375, 0.375)
    assert biased.bias == (-1, 1, -1, 1)
    without = bounds(one_spike("tanh", "relu", **features)).lower
    assert without > best_linear_error("relu") > 10 * bounds(biased).lower


def test_bounds_are_refused_where_they_do_not_hold():
    with pytest.raises(InvalidParametersError, match="infinite first batch"):
        bounds(Protocol("tanh", "sin", 1.0, alpha0=2.0, beta=1.0))


def test_the_best_learning_rate_is_a_minimum():
    protocol = Protocol("tanh", "sign", 1.0, alpha0=2.0, beta=1.0)
    rate, error = optimal_learning_rate(protocol, 1.0, 0.1)
    for factor in (0.8, 1.0, 1.2):
        near = solve(replace(protocol, learning_rate=rate * factor), Grid((1.0,), (0.1,)))
        assert near.test_error.item() >= error * (1 - 1e-9)


def test_the_learned_function_is_the_mean_output_of_trained_networks():
    srf = SpikedFeatures("tanh", "sign", 1.3, 2.0, 0.8, beta=1.0)
    grid = Grid((2.0,), (0.1,))
    outputs = simulate(srf, grid, Sizes(400, 1, 20_000), range(6), 7).learned_function
    found = summarise(outputs[:, :, 0, 0])
    solution = solve(srf, grid)
    learned = learned_function(srf, solution.m, solution.zeta, solution.psi, SLABS)[0, 0]
    assert np.abs((found.mean - learned) / np.hypot(found.stderr, 0.01)).max() < 4


def test_the_learned_function_and_the_target_leave_the_test_error_of_the_noise_of_the_readout():
    # E (f* - F)^2 along the target is a part of the test error, the whole of it but for variance.
    srf = SpikedFeatures("tanh", "sin", 1.1, 1.0, 0.7, beta=1.0)
    solution = solve(srf, Grid((1.0, 1000.0), (0.1,)))
    s, ds = np.linspace(-8, 8, 1601, retstep=True)
    weight = np.exp(-(s**2) / 2) / np.sqrt(2 * np.pi) * ds
    learned = learned_function(srf, solution.m, solution.zeta, solution.psi, s)
    gap = ((np.sin(s) - learned) ** 2) @ weight
    assert np.all(gap < solution.test_error)
    assert gap[1, 0] > 0.3 * solution.test_error[1, 0]


def test_no_best_ridge_is_given_where_no_point_has_an_error(monkeypatch):
    from giantstep.theory.solve import Solver

    points = Solver.points

    def failing(self, alpha, ridge):
        found = points(self, alpha, ridge)
        found.test_error[alpha > 1] = np.nan
        return found

    monkeypatch.setattr(Solver, "points", failing)
    _, found = optimal_ridge(ALIGNED[0], np.array([0.5, 2.0]))
    assert np.isfinite(found.test_error).tolist() == [True, False]
