"""Bounds are where theory.md section 7 says."""

from dataclasses import replace

import numpy as np
import pytest

from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures, one_spike
from giantstep.theory.bounds import (
    best_linear_error,
    bounds,
    bounds_at_best_learning_rate,
    lower_bound_with_bias,
    with_common_bias,
)
from giantstep.theory.features.conditional_features import conditional_moments
from giantstep.theory.optima import optimal_ridge
from giantstep.theory.readout.solve import solve

ALIGNED = [
    SpikedFeatures("tanh", "sin", 1.0, 0.9, 1.0, beta=1.0),
    SpikedFeatures("erf", "sign", 1.0, 2.0, -1.0, beta=0.5, noise=0.1),
    SpikedFeatures("tanh", "sin", (1.0, 1.5), (0.5, 2.0), 1.0, 1.0, fraction=(0.4, 0.6)),
    SpikedFeatures("relu", "he3", 1.0, (1.0, -1.0), 1.0, 2.0, fraction=(0.5, 0.5), bias=(0.5, 0)),
]


@pytest.mark.parametrize("srf", ALIGNED)
def test_error_optimised_over_the_ridge_lies_between_its_bounds(srf):
    found = bounds(srf)
    optimum = optimal_ridge(srf, np.array([0.1, 1.0, 100.0]))
    ridges, best = optimum.ridge, optimum.solution
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
    srf = ALIGNED[2]
    found, (kappa, weight) = bounds(srf), np.polynomial.hermite_e.hermegauss(80)
    weight /= weight.sum()
    mu0, mu1, *_ = conditional_moments(srf, kappa)
    target = np.sin(kappa)
    upper = weight @ (target - found.upper_coefficients @ mu0) ** 2
    both = np.concatenate([mu0, kappa * mu1])
    lower = weight @ (target - found.lower_coefficients @ both) ** 2
    assert upper == pytest.approx(found.upper, rel=1e-6)
    assert lower == pytest.approx(found.lower, rel=1e-6)


def test_a_bias_and_a_free_learning_rate_only_lower_the_bounds():
    protocol = Protocol("tanh", "sin", 1.0, alpha0=np.inf, beta=1.0)
    fixed, (upper, lower) = bounds(protocol), bounds_at_best_learning_rate(protocol)
    assert upper < fixed.upper
    assert lower < fixed.lower
    rates = [replace(protocol, learning_rate=rate) for rate in np.geomspace(0.3, 30, 12)]
    assert upper <= min(bounds(rated).upper for rated in rates)
    shifted_target = SpikedFeatures("tanh", "relu", 1.0, 1.0, 1.0, beta=1.0)
    with_bias = lower_bound_with_bias(shifted_target)
    assert with_bias < 0.5 * bounds(shifted_target).lower
    assert with_bias <= bounds(with_common_bias(shifted_target, 0.7)).lower


def test_quenched_biases_bring_even_functions_within_reach():
    features = {"bulk_variance": 1, "spike_strength": 1, "alignment": 1, "beta": 1}
    half = ((-1, 0.5), (1, 0.5))
    biased = one_spike("tanh", "relu", **features, readout=((1, 0.25), (-1, 0.75)), bias=half)
    assert biased.fraction == (0.125, 0.125, 0.375, 0.375)
    assert biased.bias == (-1, 1, -1, 1)
    without = bounds(one_spike("tanh", "relu", **features)).lower
    assert without > best_linear_error("relu") > 8 * bounds(biased).lower


@pytest.mark.parametrize("bulk", ["isotropic", "trained"])
def test_bounds_hold_after_a_finite_first_batch(bulk):
    protocol = Protocol("tanh", "sin", 2.0, alpha0=2.0, beta=1.0, noise=0.1)
    found = bounds(protocol)
    best = optimal_ridge(protocol, np.array([0.1, 1.0, 100.0]), bulk).solution
    assert np.all(best.test_error > found.lower)
    assert np.all(best.test_error < found.upper * (1 + 1e-6))
    limit = solve(protocol, Grid((0.1, 100.0), (1e9,)), bulk).test_error
    assert limit == pytest.approx(found.upper, rel=1e-5)


def test_the_lower_bound_is_reached_by_many_samples_and_neurons():
    protocol = Protocol("tanh", "sin", 2.0, alpha0=2.0, beta=1.0)
    wide = replace(protocol, beta=300.0, learning_rate=600.0)  # the same step
    error = solve(wide, Grid((1e5,), (1e-3,))).test_error.item()
    assert error == pytest.approx(bounds(wide).lower, rel=0.02)


def test_without_a_step_the_lower_bound_is_the_best_linear_error():
    untrained = Protocol("tanh", "sin", 2.0, alpha0=0.0, beta=1.0)
    assert bounds(untrained).lower == pytest.approx(best_linear_error("sin"))
    assert bounds(untrained).upper == pytest.approx((1 - np.exp(-2)) / 2)
    assert bounds(replace(untrained, activation="abs", alpha0=8.0)).lower > 0.4


@pytest.mark.parametrize("count", [6, 10])
def test_groups_that_hardly_differ_still_reach_the_upper_bound(count):
    strengths = tuple(np.linspace(0.5, 2, count))
    srf = SpikedFeatures("erf", "sign", 1.2, strengths, 1, 1, fraction=(1 / count,) * count)
    found = solve(srf, Grid((100.0,), (1e9,)))
    assert found.test_error.item() == pytest.approx(bounds(srf).upper, rel=1e-8)
