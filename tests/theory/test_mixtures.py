"""Inputs of two classes: docs/theory/structured-inputs.md."""

import math
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import giantstep
from giantstep.problems.covariance import eigenvalues
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.theory.readout.solve import solve
from giantstep.validation import InvalidParametersError

PROBLEM = Protocol("tanh", "class", 2, alpha0=1, beta=1, inputs="mixture:1.5")
LEVELS = "two_level:8,0.2"
GRID, VALUES = Grid((0.5, 2.0), (0.02, 0.1)), ("test_error", "training_error", "m", "q1", "q2")


@pytest.mark.parametrize(
    ("covariance", "bulk", "expected"),
    [
        ("identity", "isotropic", [0.34365600, 0.10289282, 0.97221116, -0.02318320, 0.37322169]),
        ("identity", "trained", [0.34326044, 0.10339396, 0.97763059, -0.05020939, 0.37313638]),
        (LEVELS, "isotropic", [0.40182304, 0.16132746, 0.93847877, -0.35002508, 0.40290687]),
        (LEVELS, "trained", [0.39959753, 0.16040583, 0.95804459, -0.41572272, 0.40584920]),
    ],
)
def test_reference_values(covariance, bulk, expected):
    rate, s = (2, np.ones(200)) if covariance == "identity" else (1, eigenvalues(covariance, 200))
    weights = np.where(s > s.mean(), 1 / 80, 1 / 320) if rate == 1 else s
    problem = replace(PROBLEM, learning_rate=rate, covariance=np.stack([s, weights], axis=1))
    at = solve(problem, Grid((2.0,), (0.1,)), bulk)
    names = ("test_error", "training_error", "m", "zeta", "psi")
    assert [getattr(at, name).item() for name in names] == pytest.approx(expected, abs=2e-8)


@pytest.mark.parametrize(
    ("loss", "dimension"), [("square", math.inf), ("square", 300), ("hinge", math.inf)]
)
def test_classes_at_the_same_place_are_none(loss, dimension):
    grid = Grid((2.0,), (0.1,), loss)
    plain = Protocol("tanh", "sign", 1, alpha0=1, beta=1, covariance="power:0", label_flips=0.1)
    one, other = (
        solve(replace(plain, inputs=inputs), grid, "trained", dimension)
        for inputs in ("gaussian", "mixture:0")
    )
    for name in VALUES:
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-6)


def test_labels_that_inputs_do_not_have_are_noise():
    noise = Protocol("tanh", "polynomial:0,1e-9", 2, 1, 1, noise=1, covariance="power:0")
    one, other = solve(noise, GRID), solve(replace(PROBLEM, inputs="mixture:0"), GRID)
    np.testing.assert_allclose(one.test_error + 1, other.test_error, rtol=1e-7)
    np.testing.assert_allclose(one.training_error, other.training_error, rtol=1e-7)


def test_the_learned_function_has_the_mean_output_of_a_class():
    s = np.linspace(-6, 9, 200)
    learned = giantstep.learned_function(PROBLEM, alpha=2, ridge=1e5, s=s)
    density = np.exp(-((s - 1.5) ** 2) / 2) / math.sqrt(2 * math.pi)
    mean = float(learned.learned_function @ xr.DataArray(density, dims="s")) * (s[1] - s[0])
    error = solve(PROBLEM, Grid((2.0,), (1e5,)), "trained").test_error
    assert 1 - error.item() == pytest.approx(mean, rel=1e-3)  # of a projection of the label
    np.testing.assert_allclose(learned.target_function, np.tanh(1.5 * learned.s))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"inputs": "gaussian"}, "inputs = .gaussian.: must be mixture:M where a target is the cl"),
        ({"inputs": "mixture:-1"}, "inputs = 'mixture:-1': must be one of gaussian.*mixture:M"),
        ({"target": "relu"}, "target = 'relu': must be odd or class in theory, where inputs"),
        ({"activation": "class"}, "activation = 'class': must be one of tanh"),
        ({"activation": "relu"}, "activation = 'relu': must be odd in theory"),
        ({"target": "z1*z2"}, "target = 'z1.z2': must be of one direction where inputs"),
    ],
)
def test_what_is_not_known_is_refused(changed, message):
    with pytest.raises(InvalidParametersError, match=message):
        giantstep.solve(replace(PROBLEM, **changed))


def test_questions_that_do_not_cover_mixtures_are_refused():
    features = giantstep.SpikedFeatures("tanh", "class", 1, 2, 0.8, 1, inputs="mixture:1")
    refusals = [
        lambda: giantstep.spectrum(PROBLEM),
        lambda: giantstep.solve(features),
        lambda: giantstep.solve(PROBLEM, loss="gradient_flow"),
    ]
    for refused in refusals:
        with pytest.raises(InvalidParametersError, match="mixture"):
            refused()


def test_sweeps_over_mixtures_have_gains():
    problem = replace(PROBLEM, target="sign")
    inputs = ["gaussian", "mixture:0.001", "mixture:2"]
    table = giantstep.sweep(problem, inputs=inputs, gains="gain_over_linear", alpha=3)
    np.testing.assert_allclose(table.test_error[0], table.test_error[1], rtol=1e-3)
    np.testing.assert_allclose(table.gain_over_linear[0], table.gain_over_linear[1], rtol=1e-3)
    assert table.gain_over_linear[2] > 0.5
