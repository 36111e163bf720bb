"""The whole covariance of the rows: against actual batches, other bulks, and differences."""

import math
from dataclasses import replace

import numpy as np
import pytest

from giantstep.numerics.activation_averages import activation_averages
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.bulk_kind import BULKS, TRAINED
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.first_layer.layer import layer_of
from giantstep.theory.first_layer.odd_step import OddStep
from giantstep.theory.readout.solve import readout_of, solve
from giantstep.validation import InvalidParametersError

SOFTPLUS = Protocol("softplus", "polynomial:0.5,1,0.5", 1, alpha0=3, beta=1, steps=2)
TANH = Protocol("tanh", "sin", 2, alpha0=1, beta=1, steps=1)
GRID = Grid((0.5, 2.0), (0.1,))


def covariance_of_actual_batches(protocol, dimension, seed):
    """Compute C, and the spike and the direction across it, from batches that are drawn."""
    rng = np.random.default_rng(seed)
    theta, spike = np.eye(dimension)[:2]
    activation, target = lookup(protocol.activation), lookup(protocol.target)
    e, count = protocol.learning_rate / protocol.beta, round(protocol.alpha0 * dimension)
    C, strength, c = np.eye(dimension), 0.0, 1.0
    a, s = np.zeros(dimension), 0.0
    for after in layer_of(protocol).states[1:]:
        X = rng.standard_normal((count, dimension))
        A = activation_averages(activation, strength * (X @ spike), math.sqrt(c), 1.0, 1.0)
        noise = math.sqrt(protocol.noise) * rng.standard_normal(count)
        rho = target.value(X @ theta) + noise - A.mean
        L = np.eye(dimension) + e / count * (X.T * (rho * A.curvature)) @ X
        noise_weights = rho**2 * (A.variance - c * A.curvature**2)
        longer = e * c / 2 * X.T @ (rho * A.third) / count
        C, La = L @ C @ L + e**2 / protocol.alpha0 / count * (X.T * noise_weights) @ X, L @ a
        C += np.outer(longer, La) + np.outer(La, longer) + s * np.outer(longer, longer)
        step = strength * spike + e * X.T @ (rho * A.slope) / count
        strength, c = float(np.linalg.norm(step)), after.bulk_variance
        spike = step / strength
    across = theta - (theta @ spike) * spike
    return C, np.stack([spike, across / np.linalg.norm(across)])


def test_traces_and_forms_are_those_of_actual_batches():
    # Norms do not vary before the second step of softplus, whose E sigma''' vanishes at first.
    rows, t = layer_of(SOFTPLUS).rows_in_limit[0], np.array([0.1, 1.0, 10.0])
    C, directions = covariance_of_actual_batches(SOFTPLUS, 500, seed=2)
    eigenvalues, vectors = np.linalg.eigh(C)
    resolvents = 1 / (1 + t[:, None] * eigenvalues)
    assert rows.traces(t).f == pytest.approx(resolvents.mean(axis=1), rel=0.03)
    on = directions @ vectors
    forms = np.einsum("ik,tk,jk->tij", on, resolvents, on)
    expected = rows.forms(t).resolvent[:, :2, :2]
    assert forms == pytest.approx(expected, rel=0.06, abs=0.01)


def test_the_trace_after_one_step_of_an_odd_activation_is_that_of_the_first_batch():
    protocol, t = replace(TANH, noise=0.3), np.array([[0.01], [1.0], [50.0]])
    step = OddStep(protocol)
    expected = step.first_batch().traces(step.tau * t / (1 + t)).powers[0] / (1 + t)
    rows, _ = layer_of(protocol).rows_in_limit
    assert rows.traces(t[:, 0]).f == pytest.approx(expected[:, 0], rel=1e-8)


def test_without_noise_of_batches_the_covariance_is_of_finite_rank():
    protocol = Protocol("gelu", "sin", 2, alpha0=np.inf, beta=0.7, steps=2)
    isotropic, t = layer_of(protocol).states[-1].bulk_variance, np.array([0.1, 1.0, 10.0])
    traces = layer_of(protocol).rows_in_limit[0].traces(t)
    assert traces.f == pytest.approx(1 / (1 + isotropic * t), rel=1e-9)
    assert traces.phi == pytest.approx(isotropic * traces.f, rel=1e-9)


def test_forms_and_the_recursion_have_the_same_covariance():
    protocol = Protocol("erf", "sin", 2, alpha0=2, beta=1, noise=0.2, steps=2)
    sigma = layer_of(protocol).states[-1].covariance
    found = layer_of(protocol).rows_in_limit[0].covariance(sigma[2, 2])
    assert found == pytest.approx(sigma, rel=1e-7, abs=1e-9)


# Errors at (alpha, ridge) = (.7, .1), (2, .1), (2, .01), (1, 1).
SEVERAL = [
    (("gelu", "z1+z2+0.5*z1*z2", 3, 4), 2, [1.457103, 1.225763, 1.610958, 1.325111]),
    (("tanh", "z1+0.5*z1*z2", 2, 2), 3, [0.444078, 0.414596, 0.556333, 0.398659]),
]


@pytest.mark.parametrize(("setting", "steps", "errors"), SEVERAL, ids=["gelu", "tanh"])
def test_several_directions_have_the_errors_of_the_reference(setting, steps, errors):
    protocol = Protocol(*setting, beta=1, steps=steps)
    points = np.array([0.7, 2.0, 2.0, 1.0]), np.array([0.1, 0.1, 0.01, 1.0])
    found = readout_of(protocol, TRAINED).solve(*points)
    assert found.test_error == pytest.approx(errors, abs=1e-6)
    assert not found.status.any()


MOVED = 1e-7


@pytest.mark.parametrize(
    ("protocol", "moved"),
    [
        (TANH, {"activation": lambda z: np.tanh(z) + MOVED * z**2}),
        (TANH, {"target": lambda z: np.sin(z) + MOVED * z**2}),
        (TANH, {"target": "sin", "learning_rate": 2 + MOVED}),
        (replace(SOFTPLUS, learning_rate=0), {"learning_rate": MOVED**2}),
        (replace(SOFTPLUS, alpha0=0), {"alpha0": MOVED, "learning_rate": MOVED**2}),
        (SOFTPLUS, {"alpha0": 3 + MOVED}),
    ],
    ids=["activation", "target", "rate", "no rate", "no batch", "batch"],
)
@pytest.mark.parametrize("bulk", BULKS)
@pytest.mark.parametrize("dimension", [np.inf, 100])
def test_no_parameter_makes_the_error_jump(protocol, moved, bulk, dimension):
    here, there = (solve(p, GRID, bulk, dimension) for p in (protocol, replace(protocol, **moved)))
    assert there.test_error == pytest.approx(here.test_error, rel=1e-6)


def test_a_network_upside_down_has_the_same_theory():
    # With h1 = 0 the spike has no sign of its own; rounding must not give it one.
    up, down = (
        solve(Protocol(f"polynomial:0,{s * -3},0,{s}", "tanh", 0.5, 2.0, 1.0), GRID, TRAINED)
        for s in (1, -1)
    )
    for name in ("test_error", "zeta", "psi", "q1"):
        assert np.abs(getattr(up, name)) == pytest.approx(np.abs(getattr(down, name)), rel=1e-9)


def test_untrained_features_have_no_trained_bulk():
    with pytest.raises(InvalidParametersError, match="isotropic"):
        solve(SpikedFeatures("tanh", "sin", 1.0, 1.0, 0.5, 1.0), Grid((1.0,), (0.1,)), TRAINED)
    grid = Grid((1.0,), (0.1,))
    still = Protocol("tanh", "sin", 0.0, 1.0, 1.0)
    assert solve(still, grid, TRAINED).test_error == solve(still, grid).test_error


def test_labels_with_a_little_noise_are_resolved():
    for target in ("polynomial:0,-3,0,1", "polynomial:-1,0,1", "sign"):
        protocol = Protocol("tanh", target, 30, 0.3, 1.0, noise=1e-3)
        solution = solve(protocol, Grid((0.5, 2.0), (1e-6, 0.1)), TRAINED)
        assert not solution.status.any()


@pytest.mark.parametrize(
    ("protocol", "error"),
    [
        (Protocol("hardtanh", "relu", 0.6, alpha0=10.8, beta=1.43, steps=3), 1e-11),
        (Protocol("elu", "he2", 2.9, alpha0=0.34, beta=0.21, noise=0.09, steps=2), 1e-5),
        (Protocol("he2", "sign", 0.58, alpha0=4.2, beta=0.33), 1e-10),
        (Protocol("softplus", "sin", 5, alpha0=0.5, beta=1, steps=2, reuse_batch=True), 1e-3),
    ],
    ids=["kinks", "labels without bound", "no spike", "one batch"],
)
def test_rules_over_a_batch_resolve(protocol, error):
    solution = solve(protocol, GRID, TRAINED)
    assert (solution.status == 0).all()
    assert solution.quadrature_error.max() < error


@pytest.mark.slow
def test_polynomials_in_t_that_do_not_converge_count_as_an_error_of_quadrature():
    """Finer rules have a lower degree there; the answer hardly changes, and says by how much."""
    protocol = Protocol("softplus", "he2", 4, alpha0=20, beta=0.5, steps=3)
    coarse, fine = (layer_of(protocol, fineness=fineness).rows_in_limit[0] for fineness in (1, 2))
    t = np.geomspace(1e-3, 1e6, 100)
    forms = coarse.forms(t).resolvent, fine.forms(t).resolvent
    assert coarse.error > 1e-4
    assert np.abs(forms[0] - forms[1]).max() > 1e-6
    assert np.all(solve(protocol, GRID, TRAINED).quadrature_error < 1e-9)
