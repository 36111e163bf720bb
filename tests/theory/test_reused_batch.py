"""Several steps on one batch: reference values, one step, actual weights, limits, and spectra."""

from dataclasses import replace

import numpy as np
import pytest

from giantstep.numerics.interval_rule import interval_rule
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.theory.first_layer.layer import layer_of
from giantstep.theory.first_layer.reused_batch import ReusedBatch
from giantstep.theory.readout.solve import solve
from giantstep.theory.spectral_density import SpectralDensity
from giantstep.theory.spectrum import spectrum

SINE = Protocol("tanh", "sin", 2, alpha0=1, beta=1, steps=2, reuse_batch=True)
POINT = Grid((2.0,), (0.1,))


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [
        (SINE, (1.292131, 1.069411, 0.738964)),
        (replace(SINE, alpha0=2, learning_rate=4), (1.750673, 1.786850, 0.858851)),
        (replace(SINE, target="sign", learning_rate=4), (2.806123, 3.161601, 0.651872)),
    ],
)
def test_states_after_two_steps_are_those_of_the_reference(protocol, expected):
    layer = layer_of(protocol)
    assert layer.batch == protocol.alpha0
    last = layer.states[-1]
    found = last.bulk_variance, last.spike_strength, *last.alignment
    assert found == pytest.approx(expected, rel=3e-6)


def test_errors_after_two_steps_are_those_of_the_reference():
    for bulk, expected in (("isotropic", 0.144132), ("trained", 0.150999)):
        solution = solve(SINE, POINT, bulk)
        assert solution.test_error.item() == pytest.approx(expected, abs=2e-6)
        assert solution.quadrature_error.item() < 1e-6


@pytest.mark.parametrize(
    "protocol",
    [
        replace(SINE, noise=0.2, label_flips=0.1, readout=((1.5, 1.0),)),
        replace(SINE, activation="softplus", target="0.5*z1+z1*z2"),
    ],
)
def test_one_step_is_that_on_a_fresh_batch(protocol):
    one = replace(protocol, steps=1)
    fresh, found = layer_of(one).states[-1], ReusedBatch(one, 1).states[-1]
    for name in ("bulk_variance", "spike_strength", "alignment"):
        assert getattr(found, name) == pytest.approx(getattr(fresh, name), abs=1e-6)
    assert found.covariance[:-1, :-1] == pytest.approx(fresh.covariance[:-1, :-1], abs=1e-5)


@pytest.mark.parametrize(("activation", "precision"), [("tanh", 1e-6), ("relu", 1e-3)])
def test_a_huge_batch_is_a_population(activation, precision):
    many = replace(SINE, activation=activation, alpha0=1e8, learning_rate=1)
    found, fresh = (layer_of(p).states[-1] for p in (many, replace(many, alpha0=np.inf)))
    for name in ("bulk_variance", "spike_strength", "alignment"):
        assert getattr(found, name) == pytest.approx(getattr(fresh, name), rel=precision)


def test_a_second_look_sees_what_is_odd_along_one_direction():
    cubic, product, even = (
        layer_of(replace(SINE, target=target, alpha0=4, learning_rate=1)).states[-1].alignment
        for target in ("he3", "z1*z2", "he2")
    )
    assert cubic == pytest.approx(-0.2345, abs=1e-3)
    assert [*product, even] == pytest.approx([0, 0, 0], abs=1e-9)


def test_the_resolvent_has_the_trace_of_the_recursion_and_moves_as_its_derivative_says():
    rows, state = (getattr(ReusedBatch(SINE, 1), name) for name in ("rows", "states"))
    zero = np.zeros(1)
    assert rows.solve(zero)[0, 2, 2] == pytest.approx(state[-1].bulk_variance, rel=1e-8)
    t, step = np.ones(1), 1e-5 * np.random.default_rng(0).normal(size=(1, 5, 5))
    G = rows.solve(t)
    mapped, slope = rows.map(t, G)
    assert mapped == pytest.approx(G, abs=1e-9)
    step += step.transpose(0, 2, 1)
    change = (rows.map(t, G + step)[0] - rows.map(t, G - step)[0]) / 2
    assert change.ravel() == pytest.approx(slope[0] @ step.ravel(), abs=1e-9)


@pytest.mark.slow
def test_the_spectrum_has_mass_one_and_is_wider_than_the_isotropic_one():
    isotropic, trained = (
        spectrum(SINE, 2.0, points=60, bulk=bulk) for bulk in ("isotropic", "trained")
    )
    x, dx = interval_rule(trained.edges, 400)
    mass = trained.mass_at_zero + dx @ SpectralDensity(SINE, 2.0, "trained")(x)
    assert mass == pytest.approx(1, abs=1e-3)
    assert trained.edges[-1, 1] > isotropic.edges[-1, 1]
