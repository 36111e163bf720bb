"""Targets of several directions: second routes to what the theory says of them."""

from dataclasses import replace

import numpy as np
import pytest
from networks import first_layers

from giantstep.numerics.quadrature import product_rule
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.teachers import lookup_teacher
from giantstep.theory.bounds import best_linear_error, bounds
from giantstep.theory.features.conditional_target import across_basis, conditional_target
from giantstep.theory.first_layer.layer import layer_of
from giantstep.theory.readout.solve import solve
from giantstep.validation import InvalidParametersError

STAIRCASE = Protocol("elu", "z1+z1*z2+z1*z2*z3", 1.5, alpha0=8, beta=1, noise=0.1, steps=3)
GRID = Grid((0.7, 2.0), (0.1,))


def assert_equal_theories(one, other, **how):
    for bulk in ("isotropic", "trained"):
        ours, theirs = (solve(problem, GRID, bulk, **how) for problem in (one, other))
        for name in ("test_error", "training_error", "m", "zeta", "q1", "q2"):
            assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("alpha0", [3, np.inf])
def test_a_teacher_of_one_direction_is_the_polynomial_that_it_writes(alpha0):
    of_teacher = replace(
        STAIRCASE, target="z1 + 0.5*he3(z1)", alpha0=alpha0, learning_rate=0.7, steps=2
    )
    of_polynomial = replace(of_teacher, target="polynomial:0,-0.5,0,0.5")
    assert_equal_theories(of_teacher, of_polynomial, dimension=100)
    psi = [solve(problem, GRID).psi for problem in (of_teacher, of_polynomial)]
    assert psi[0] == pytest.approx(psi[1], abs=1e-11)


def test_the_theory_does_not_depend_on_the_axes_of_the_directions():
    # z1 + z2 + z1^2/2 + z2^2/2 - 1, in axes along and across its linear part.
    start = replace(STAIRCASE, learning_rate=0.7, steps=2)
    turned = replace(start, target="1.4142135623730951*z1+0.5*he2(z1)+0.5*he2(z2)")
    straight = replace(start, target="z1+z2+0.5*he2(z1)+0.5*he2(z2)")
    assert_equal_theories(straight, turned)


def test_moments_of_a_teacher_given_the_spike_are_those_of_an_unconditional_average():
    srf = SpikedFeatures("tanh", STAIRCASE.target, 1, 1, alignment=(0.6, -0.3, 0.5), beta=1)
    teacher, a = lookup_teacher(srf.target), srf.alignments
    z, weight = product_rule(4, 9)
    kappa = z @ [*a, np.sqrt(1 - a @ a)]
    u = np.linalg.solve(across_basis(a), (z[:, :3] - np.outer(kappa, a)).T)
    mean, slope, residual = conditional_target(srf, kappa)
    labels, power = teacher.value(z[:, :3]), 1 + kappa + kappa**2
    assert (weight * u) @ u.T == pytest.approx(np.eye(3))
    assert weight @ (mean * power) == pytest.approx(weight @ (labels * power))
    slopes = (slope * power) @ weight
    assert slopes == pytest.approx((u * labels * power) @ weight)
    total = mean**2 + np.sum(slope**2, axis=0) + residual
    assert weight @ (total * power) == pytest.approx(weight @ (labels**2 * power))


@pytest.mark.parametrize("alpha0", [8, np.inf])
def test_actual_weights_turn_towards_the_directions_as_the_theory_says(alpha0):
    protocol, dimension = replace(STAIRCASE, alpha0=alpha0), 300
    found = []
    for layer in first_layers(protocol, dimension, 4):
        bulk = layer.weights - np.outer(layer.strengths, layer.spike)
        a = layer.directions @ layer.spike
        rest = layer.directions - np.outer(a, layer.spike)
        left, _, right = np.linalg.svd(rest, full_matrices=False)
        c = np.sum(bulk**2, axis=1).mean()
        memory = [bulk @ layer.spike, *(bulk @ (left @ right).T).T, np.sum(bulk**2, axis=1) / c]
        covariance = dimension * np.cov(memory)
        shares = np.mean((layer.weights @ layer.directions.T) ** 2, axis=0)
        shares /= np.mean(np.sum(layer.weights**2, axis=1))
        found.append([c, layer.strengths[0], *a, *shares, *covariance[np.triu_indices(5)]])
    state = layer_of(protocol).states[-1]
    c, r = state.bulk_variance, state.spike_strength
    overlaps = (r * state.alignment) ** 2 + state.bulk_overlaps / dimension
    expected = c, r, *state.alignment, *overlaps / (c + r**2)
    if alpha0 == np.inf:  # then no direction across the spike and in the target's span is left
        found, state = np.array(found)[:, :8], None
        expected = np.array(expected)
    else:
        expected = np.array([*expected, *state.covariance[np.triu_indices(5)]])
    noise = 2 * np.std(found, axis=0) + 0.05 * np.abs(expected) + 0.03
    assert np.all(np.abs(np.mean(found, axis=0) - expected) < noise)
    assert expected[3] > 0.1  # the second stair is found


def test_the_upper_bound_is_the_error_at_a_large_ridge():
    features = SpikedFeatures("elu", STAIRCASE.target, 1.2, 0.8, (0.8, 0.4, 0.1), beta=1)
    error = solve(features, Grid((2.0,), (1e7,))).test_error.item()
    assert error == pytest.approx(bounds(features).upper, rel=1e-4)
    assert bounds(features).upper < best_linear_error("z1*z2+z1*z2*z3") + 1


def test_random_features_do_not_depend_on_the_initial_readout():
    plain = replace(STAIRCASE, alpha0=0)
    found = solve(replace(plain, readout=((1, 0.5), (-1, 0.5))), GRID).test_error
    assert found == pytest.approx(solve(plain, GRID).test_error, rel=1e-9)


def test_what_is_not_covered_is_refused_with_the_reason():
    with pytest.raises(InvalidParametersError, match="square in the theory of targets of several"):
        solve(STAIRCASE, Grid((1.0,), (0.1,), "huber"))
    with pytest.raises(InvalidParametersError, match="of one direction in the theory of readouts"):
        solve(replace(STAIRCASE, readout=((1, 0.5), (-1, 0.5))), GRID)
    with pytest.raises(InvalidParametersError, match="of degree 6 at most, not 7"):
        replace(STAIRCASE, target="he5(z1)*he2(z2)")
    with pytest.raises(InvalidParametersError, match="of squares that add up to at most 1"):
        SpikedFeatures("elu", "z1*z2", 1, 1, alignment=(0.8, 0.8), beta=1)
