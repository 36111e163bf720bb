"""What means cost at finite dimension: differences, actual matrices, limits, simulations."""

from dataclasses import replace

import numpy as np
import pytest
from networks import assert_near, first_layers

from giantstep.numerics.packed_symmetric import triangle_of
from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.simulation.simulate import simulate
from giantstep.theory.first_layer.layer import layer_of
from giantstep.theory.readout.solve import solve
from giantstep.theory.readout.square_loss import SquareLoss
from giantstep.theory.rows.interface import Hats
from giantstep.validation import InvalidParametersError

ONE, LETTERS = ((1.0, 1.0),), ((-1.0, 0.3), (0.3, 0.3), (1.5, 0.4))
TRAINED_LETTERS = Protocol("tanh", "sin", 2, 0.8, 1.2, noise=0.1, readout=LETTERS)
GROUPS = SpikedFeatures(
    "tanh", "sign", (1.2, 2), (0.5, 2), 0.8, 0.7, 0.2, fraction=(0.4, 0.6), bias=(0.1, -0.3)
)
# theory.md section 12.
FIGURE_3, GRID = SpikedFeatures("tanh", "sin", 1.0, 0.9, 1.0, beta=1.0), Grid((0.3, 1.0), (8.0,))


def prepared(problem, bulk, dimension=100.0):
    first = layer_of(problem, dimension)
    f = first.conditional(bulk)
    rule = SquareLoss(first, f, first.bulk(bulk, f))
    return rule.equations.bulk, rule.features.B.shape[1], rule.penalty


def some_hats(rank, groups):
    triangle, root = triangle_of(rank), np.random.default_rng(0).standard_normal((rank, rank))
    V1_hat = 0.5 * np.eye(rank) + root @ root.T / rank
    return triangle, np.concatenate([triangle.pack(V1_hat), np.linspace(0.3, 0.5, groups)])


@pytest.mark.parametrize(
    ("problem", "bulk"),
    [
        (GROUPS, ISOTROPIC),
        (replace(TRAINED_LETTERS, readout=ONE), TRAINED),
        (TRAINED_LETTERS, ISOTROPIC),
        (TRAINED_LETTERS, TRAINED),
        (replace(TRAINED_LETTERS, activation="relu", steps=2), TRAINED),
    ],
)
def test_sources_are_derivatives_of_the_penalty(problem, bulk):
    bulk, rank, penalty = prepared(problem, bulk)
    m = np.random.default_rng(1).standard_normal((1, layer_of(problem).features.groups.c.size))
    triangle, hats = some_hats(rank, m.size)

    def response(hats):
        V1_hat, L = triangle.unpack(hats[None, : triangle.size]), hats[None, triangle.size :]
        V, T = bulk.variances(V1_hat, L)
        return bulk.spike_response(V1_hat, V), T[0]

    def cost(hats):
        return (m @ penalty.matrix(response(hats)[0])[0] @ m.T).item()

    moves = 1e-5 * np.eye(hats.size)
    slopes = np.array([cost(hats + e) - cost(hats - e) for e in moves]) / 2e-5
    multiplicity = np.concatenate([triangle.multiplicity, np.ones(m.size)])
    at, T = response(hats)
    nothing = Hats(np.zeros((1, len(at.K[0]))), m)
    first, second = penalty.sources(at, at, nothing, nothing)
    assert T @ first[0] + second[0] == pytest.approx(slopes / multiplicity, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("bulk", [ISOTROPIC, TRAINED])
def test_in_a_huge_dimension_the_means_cost_nothing(bulk):
    grid = Grid((0.5, 2.0), (1e-3, 1.0))
    limit, huge = solve(TRAINED_LETTERS, grid, bulk), solve(TRAINED_LETTERS, grid, bulk, 1e12)
    for name in ("test_error", "training_error", "m", "zeta", "psi", "q1", "q2"):
        assert getattr(huge, name) == pytest.approx(getattr(limit, name), rel=1e-6, abs=1e-8)


def test_features_without_slopes_have_a_theory_at_finite_dimension():
    flat = replace(GROUPS, activation="abs", spike_strength=(0.0, 0.0), bias=(0.0, 0.0))
    limit, huge = (solve(flat, Grid((0.5,), (0.1,)), ISOTROPIC, d) for d in (np.inf, 1e12))
    assert huge.test_error == pytest.approx(limit.test_error, rel=1e-6)


def test_the_reference_value_is_reproduced():
    limit, finite = (solve(FIGURE_3, Grid((0.3,), (8.0,)), ISOTROPIC, d) for d in (np.inf, 1000))
    assert limit.test_error.item() == pytest.approx(0.0291, abs=5e-5)
    assert finite.test_error.item() == pytest.approx(0.0357, abs=5e-5)


@pytest.mark.parametrize("bulk", [ISOTROPIC, TRAINED])
def test_letters_of_opposite_sign_are_one_letter_at_finite_dimension(bulk):
    # A neuron of letter -1 is minus one of letter 1 whose weights began at their opposites.
    one = Protocol("erf", "tanh", 3, 0.5, 1.0)
    two = replace(one, readout=((-1.0, 0.4), (1.0, 0.6)))
    alone, both = (solve(each, Grid((0.5, 2.0), (0.01,)), bulk, 150) for each in (one, two))
    near = 1e-9 if bulk == ISOTROPIC else 1e-2  # two letters lack the fluctuations of norms
    assert both.test_error == pytest.approx(alone.test_error, rel=near)
    assert both.m @ [-1, 1] == pytest.approx(alone.m[..., 0], rel=near)
    assert both.q1.sum(axis=(2, 3)) == pytest.approx(alone.q1[..., 0, 0], rel=near)
    assert both.q2.sum(axis=-1) == pytest.approx(alone.q2[..., 0], rel=near)


def test_a_dimension_below_two_is_refused():
    with pytest.raises(InvalidParametersError, match="dimension"):
        solve(FIGURE_3, Grid((1.0,), (1.0,)), ISOTROPIC, 1)


@pytest.mark.parametrize("readout", [ONE, ((-1.0, 0.4), (1.2, 0.6))])
def test_means_cost_what_actual_weights_say(readout):
    # The least of a^T S a at given means, S of actual rows without their spike, for some V1_hat and
    # L. Rows that count as independent would cost 40 % more (one letter), or have no common cost.
    protocol, d = Protocol("tanh", "sign", 1.5, 2.0, 1.0, readout=readout), 300
    bulk, rank, penalty = prepared(protocol, TRAINED, d)
    triangle, hats = some_hats(rank, len(readout))
    V1_hat, L = triangle.unpack(hats[None, : triangle.size]), hats[None, triangle.size :]
    expected = penalty.matrix(bulk.spike_response(V1_hat, bulk.variances(V1_hat, L)[0]))[0]
    B = np.eye(1) if len(readout) == 1 else bulk.rows.B
    between = B @ V1_hat[0] @ B.T
    costs = []
    for layer in first_layers(protocol, d, 24):
        bulk_rows = layer.weights - np.outer(layer.weights @ layer.spike, layer.spike)
        member = layer.member
        S = between[np.ix_(member, member)] * (bulk_rows @ bulk_rows.T)
        S += np.diag(L[0, member])
        costs.append([np.linalg.inv(layer.membership.T @ np.linalg.solve(S, layer.membership))])
    size = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert_near(costs, expected, beside=0.02 * size)  # of order 1/d


def test_small_spiked_features_follow_the_finite_theory_and_not_the_limit():
    raw = simulate(FIGURE_3, GRID, Sizes(100, 2, 4000), range(24), root_seed=3)
    limit, finite = (solve(FIGURE_3, GRID, ISOTROPIC, d).test_error for d in (np.inf, 100))
    assert_near(raw.test_error, finite, beside=0.01 * finite)
    assert np.all(raw.test_error.mean(axis=(0, 1)) > 1.1 * limit)


def test_means_of_nearly_dependent_features_are_those_of_simulations_and_not_the_limit():
    # As d -> infinity they are huge, of opposite signs: 55 and -47.
    srf = SpikedFeatures("tanh", "he3", 1.0, (1.0, 1.3), 0.9, 0.8, fraction=(0.5, 0.5))
    grid, d = Grid((1.0,), (0.1,)), 120
    theory = solve(srf, grid, ISOTROPIC, d).m
    assert_near(simulate(srf, grid, Sizes(d, 2, 2000), range(24), 3).m, theory, beside=0.05)
    assert np.all(np.abs(theory) < 0.2 * np.abs(solve(srf, grid).m))
