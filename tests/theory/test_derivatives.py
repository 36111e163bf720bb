"""Derivatives of the test error are those of the errors that are solved for."""

import math
from dataclasses import replace

import numpy as np
import pytest

import giantstep
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.readout.derivatives import continuous_parameters, error_derivatives
from giantstep.theory.readout.solve import readout_of
from giantstep.validation import InvalidParametersError

TANH = Protocol("tanh", "sin", 3, alpha0=2, beta=1, noise=0.1)
LETTERS = ((1.0, 0.5), (-0.5, 0.5))
CASES = {
    "isotropic": (TANH, "isotropic", math.inf),
    "trained": (TANH, "trained", 500),
    "two steps": (replace(TANH, steps=2), "trained", 500),
    "letters": (replace(TANH, noise=0, readout=LETTERS), "isotropic", math.inf),
    "features": (
        SpikedFeatures("relu", "sin", 1.2, 1.5, 0.9, 1, bias=0.3, label_flips=0.1),
        "isotropic",
        math.inf,
    ),
}
# Over and under the interpolation threshold, and without a ridge.
ALPHA, RIDGE = np.array([0.6, 1.0, 3.0]), np.array([0.05, 1e-3, 0.0])


def differences(error, value):
    """Differentiate to fourth order, from above if the value is zero."""
    if np.any(value):
        h = 1e-3 * np.abs(value)
        return (
            (
                8 * (error(value + h) - error(value - h))
                - error(value + 2 * h)
                + error(value - 2 * h)
            )
            / 12
            / h
        )
    h = 1e-3
    steps = (-25 / 12, 4, -3, 4 / 3, -1 / 4)
    return sum(weight * error(value + k * h) for k, weight in enumerate(steps)) / h


@pytest.mark.parametrize("name", CASES)
def test_derivatives_are_those_of_solved_errors(name):
    problem, bulk, dimension = CASES[name]

    def error(alpha=ALPHA, ridge=RIDGE, **values):
        moved = replace(problem, **values)
        return readout_of(moved, bulk, dimension=dimension).solve(alpha, ridge).test_error

    slopes = error_derivatives(problem, ALPHA, RIDGE, bulk, dimension)
    largest = np.nanmax(np.abs(slopes), axis=-1)
    by_ridge = np.array([differences(lambda x: error(ridge=x), r)[k] for k, r in enumerate(RIDGE)])
    known = {"alpha": differences(lambda x: error(alpha=x), ALPHA), "ridge": by_ridge}
    for slope, one in zip(slopes.T, continuous_parameters(problem), strict=True):
        if np.isnan(slope).all():
            continue
        if one not in known:
            value = np.ravel(getattr(problem, one)).item()
            known[one] = differences(lambda x, one=one: error(**{one: x}), value)
        assert np.all(np.abs(slope - known[one]) < 1e-6 * largest), one
    assert {"beta", "noise", "alpha", "ridge"} <= {*known}


def test_the_best_ridge_drops_out():
    def error(alpha0):
        moved = replace(TANH, alpha0=alpha0)
        return giantstep.solve(moved, ridge="optimal").test_error.item()

    best = giantstep.solve(TANH, ridge="optimal", derivatives=True).derivative
    known = (error(2.02) - error(1.98)) / 0.04
    assert best.sel(parameter="alpha0").item() == pytest.approx(known, rel=1e-3)
    assert abs(best.sel(parameter="ridge").item()) < 1e-4


def test_a_sweep_has_derivatives_of_each_combination():
    swept = giantstep.sweep(TANH, alpha0=[1, math.inf], derivatives=True, dimension=500)
    one = giantstep.solve(replace(TANH, alpha0=1), derivatives=True, dimension=500)
    assert np.allclose(swept.derivative.sel(alpha0=1), one.derivative, rtol=1e-9)
    assert list(swept.derivative.sel(alpha0=math.inf).isnull().values.nonzero()[0]) == [1]


def test_what_cannot_be_differentiated_is_refused():
    with pytest.raises(giantstep.InvalidParametersError, match="derivatives = True"):
        giantstep.solve(
            Protocol("erf", "sign", 2, 1, 1),
            ridge="optimal",
            loss="hinge",
            by="gcv",
            derivatives=True,
        )


def test_slopes_that_jump_after_several_steps_on_one_batch_are_refused_unsolved(monkeypatch):
    protocol = Protocol("leaky_relu", "sign", 0.47, 0.568, beta=1.81, steps=3, reuse_batch=True)
    monkeypatch.setattr("giantstep.questions.case.readout_of", None)
    with pytest.raises(InvalidParametersError, match="smooth, for derivatives"):
        giantstep.solve(protocol, 0.51, 0.957, dimension=100, derivatives=True)
