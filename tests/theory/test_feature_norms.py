"""Samples' features whose norms vary: theory.md section 12."""

from dataclasses import replace

import numpy as np
import pytest
from networks import assert_agreement

from giantstep import Protocol, solve
from giantstep.problems.grid import Grid
from giantstep.problems.sizes import Sizes
from giantstep.theory.features.conditional_features import conditional_features
from giantstep.theory.features.feature_norms import norm_variance, with_feature_norms
from giantstep.theory.first_layer import interface
from giantstep.theory.first_layer.equivalent_features import equivalent_features
from giantstep.theory.readout.prepared_layer import prepare_layer
from giantstep.theory.readout.square_readout import SquareReadout

SATURATED = equivalent_features(Protocol("tanh", "tanh", 4, alpha0=0.3, beta=1))


@pytest.mark.parametrize("kappa", [0.0, 1.0, 2.0])
def test_the_variance_is_that_of_rows_that_were_drawn(kappa):
    (c,), (u,), _, _ = SATURATED.groups
    width, rng = 50, np.random.default_rng(0)
    rows = np.tanh(u * kappa + np.sqrt(c) * rng.standard_normal((40_000, width)))
    norms = np.mean((rows - rows.mean()) ** 2, axis=1)
    expected = norm_variance(SATURATED, np.array([kappa])).item() / width
    assert norms.var() / norms.mean() ** 2 == pytest.approx(expected, rel=0.05)


def test_nodes_over_the_norm_keep_averages_and_add_its_variance():
    f = with_feature_norms(conditional_features(SATURATED), SATURATED, 200)
    assert f.weight.sum() == pytest.approx(1, rel=1e-12)
    assert f.weight @ f.row_norm == pytest.approx(1, rel=1e-9)
    near = np.abs(f.kappa) < 1
    variance = norm_variance(SATURATED, f.kappa[near]) / 200
    spread = f.weight[near] @ (f.row_norm[near] - 1) ** 2
    assert spread == pytest.approx(f.weight[near] @ variance, rel=1e-9)


def test_without_a_dimension_nothing_varies():
    assert with_feature_norms(conditional_features(SATURATED), SATURATED, np.inf).row_norm == 1
    far, limit = (solve(SATURATED, ridge=1e-3, dimension=d).test_error for d in (1e9, np.inf))
    assert far.item() == pytest.approx(limit.item(), rel=1e-5)


def test_averages_over_norms_are_resolved():
    assert solve(SATURATED, ridge=1e-6, dimension=100).quadrature_error < 1e-9


def test_norms_that_vary_change_the_readout_as_an_independent_calculation_says(monkeypatch):
    point = np.array([1.0]), np.array([1e-3])
    rows = SquareReadout(prepare_layer(SATURATED, dimension=100)).solve(*point)
    monkeypatch.setattr(interface, "with_feature_norms", lambda f, *_: f)
    none = SquareReadout(prepare_layer(SATURATED, dimension=100)).solve(*point)
    expected = {"test_error": 0.097, "training_error": -0.188, "V2": -0.116}
    for name, change in expected.items():
        ratio = getattr(none, name).item() / getattr(rows, name).item()
        assert ratio - 1 == pytest.approx(change, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "without"), [(0.0, 0.1), (0.5, 0.2)])
def test_features_of_small_saturated_networks_vary_in_norm(noise, without):
    grid, sizes = Grid((1.0,), (1e-3,)), Sizes(100, 1, 2000)
    # Without them the theory is too high by this factor.
    asked = replace(SATURATED, noise=noise), grid, sizes, 200, ["test_error"], "isotropic"
    assert_agreement(*asked, beside=without / 3)
