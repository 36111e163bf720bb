"""Simulated networks follow the protocol, and agree with the theory within honest error bars."""

import tracemalloc
from dataclasses import fields

import numpy as np
import pytest
from numpy.random import SeedSequence, default_rng

from giantstep.numerics.gaussian import split_rule, unit_edges
from giantstep.numerics.scalar_functions import FUNCTIONS, lookup
from giantstep.problems.inputs import lookup_inputs
from giantstep.problems.protocol import Grid, Protocol, SpikedFeatures
from giantstep.problems.sizes import Sizes
from giantstep.simulation import simulate as simulate_module
from giantstep.simulation.first_layer import first_layer
from giantstep.simulation.gradients import batch_slopes, population_gradient
from giantstep.simulation.measurements import exact_test
from giantstep.simulation.replicate_statistics import summarise
from giantstep.simulation.ridge import RidgePath
from giantstep.simulation.samples import FEWER_ROWS, FIRST_BATCH, ROWS, draw_samples, stream
from giantstep.simulation.simulate import Simulated, simulate
from giantstep.simulation.threads import workers
from giantstep.theory.equivalent_features import equivalent_features
from giantstep.theory.solve import solve
from giantstep.validation import InvalidParametersError

MEASURED = [field.name for field in fields(Simulated)]
OVERLAPS = ("m", "zeta", "psi", "q1", "q2")


def sphere(rng, rows, dimension):
    normals = rng.standard_normal((rows, dimension))
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)


def layer_of(problem, sizes, network=0, seed=3):
    with workers(1) as pool:
        return first_layer(problem, sizes, network, SeedSequence(seed), pool)


def z_scores(problem, grid, sizes, networks, names=("test_error", "training_error")):
    """How far simulations are from theory, in their own standard errors and 1 % of finite size."""
    raw, exact = simulate(problem, grid, sizes, range(networks), root_seed=1), solve(problem, grid)
    scores = []
    for name in names:
        found, expected = summarise(getattr(raw, name)), getattr(exact, name)
        scale = 0.01 * np.abs(expected).max()
        scores.append(((found.mean - expected) / np.hypot(found.stderr, scale)).ravel())
    return np.concatenate(scores)


def test_gradient_step_is_minus_the_gradient_of_the_loss():
    rng = default_rng(0)
    weights, inputs = sphere(rng, 4, 6), rng.standard_normal((10, 6))
    labels, omega = rng.standard_normal(10), rng.standard_normal(4)

    def loss(w):  # half the squared error of f = a.sigma(W x)/sqrt(p), a = omega/sqrt(p)
        output = np.tanh(inputs @ w.T) @ omega / 4
        return np.sum((labels - output) ** 2) / 2

    gradient = np.zeros_like(weights)
    for index in np.ndindex(weights.shape):
        h = np.zeros_like(weights)
        h[index] = 1e-6
        gradient[index] = (loss(weights + h) - loss(weights - h)) / 2e-6
    found = batch_slopes(weights, omega, FUNCTIONS["tanh"], inputs, labels).T @ inputs
    assert found / 4 == pytest.approx(-gradient, abs=1e-8)


@pytest.mark.parametrize("target", ["sign", "relu"])
def test_population_gradient_is_the_mean_over_batches(target):
    rng = default_rng(1)
    weights, (theta,) = sphere(rng, 12, 40), sphere(rng, 1, 40)
    student, teacher = FUNCTIONS["tanh"], FUNCTIONS[target]
    omega = rng.choice([-0.5, 2.0], 12)
    batches = []
    for _ in range(40):
        inputs = rng.standard_normal((10_000, 40))
        labels = teacher.value(inputs @ theta)
        slopes = batch_slopes(weights, omega, student, inputs, labels)
        batches.append(slopes.T @ inputs / labels.size)
    stderr = np.std(batches, axis=0, ddof=1) / np.sqrt(len(batches))
    z = (
        np.mean(batches, axis=0) - population_gradient(weights, omega, student, teacher, theta)
    ) / stderr
    assert np.mean(z**2) < 1.7  # rows share their batches, so this spreads widely about 1


def test_first_layer_after_the_step_has_the_equivalent_bulk_and_spike():
    protocol, sizes = Protocol("tanh", "sign", 2, alpha0=2, beta=0.5), Sizes(1200)
    srf = equivalent_features(protocol)
    layer = layer_of(protocol, sizes)
    _, strengths, directions = np.linalg.svd(layer.weights, full_matrices=False)
    assert strengths[0] > 2 * strengths[1]
    assert abs(directions[0] @ layer.spike) > 0.98
    assert layer.spike @ layer.theta == pytest.approx(srf.alignment, rel=0.03)
    assert layer.strengths == pytest.approx(srf.groups.u[0], rel=0.05)
    assert layer.weights @ layer.spike == pytest.approx(layer.strengths, abs=0.3)
    bulk = layer.weights - np.outer(layer.strengths, layer.spike)
    assert np.sum(bulk**2, axis=1).mean() == pytest.approx(srf.groups.c[0], rel=0.03)


@pytest.mark.parametrize("reuse", [False, True])
def test_several_steps_each_take_the_gradient_at_the_present_weights(reuse):
    sizes, seed = Sizes(50), SeedSequence(3)
    protocol = Protocol("tanh", "sign", 2, alpha0=1.5, beta=0.5, steps=2, reuse_batch=reuse)
    start = layer_of(Protocol("tanh", "sign", 2, alpha0=0, beta=0.5), sizes)
    weights, count = start.weights.astype(float), 75
    for step in range(2):
        rng = stream(seed, 0, FIRST_BATCH, 0 if reuse else step, 0)
        samples = draw_samples(protocol, start.theta, count, rng)
        slopes = batch_slopes(
            weights, np.ones(25), FUNCTIONS["tanh"], samples.inputs, samples.clean
        )
        weights += 2 * 50 / 25 / count * slopes.T @ samples.inputs
    assert layer_of(protocol, sizes).weights == pytest.approx(weights, abs=1e-5)
    with pytest.raises(InvalidParametersError, match="steps = 2: must be 1 in the theory"):
        solve(protocol, Grid((1,), (1,)))


def test_simulated_spiked_features_agree_with_the_theory_in_errors_and_overlaps():
    srf = SpikedFeatures("tanh", "sin", 1.3, 1.2, 0.7, beta=0.7, noise=0.1)
    z = z_scores(
        srf,
        Grid((0.3, 1.0, 2.5), (0.05, 1.0)),
        Sizes(400, 2, 4000),
        networks=10,
        names=("test_error", "training_error", *OVERLAPS),
    )
    assert np.abs(z).max() < 4.5  # of 42 numbers; nine degrees of freedom have heavy tails


def test_simulated_groups_agree_with_the_theory_in_errors_and_overlaps():
    srf = SpikedFeatures(
        "hardtanh",
        "sign",
        (1, 2),
        (1, 2),
        0.9,
        0.7,
        noise=0.1,
        fraction=(0.4, 0.6),
        bias=(0.3, -0.5),
    )
    z = z_scores(
        srf,
        Grid((0.5, 2.0), (0.1,)),
        Sizes(600, 1, 4000),
        networks=10,
        names=("test_error", "training_error", *OVERLAPS),
    )
    assert np.abs(z).max() < 4.5


def test_simulated_networks_agree_with_the_theory_after_a_large_batch():
    protocol = Protocol("tanh", "sin", 1, alpha0=20, beta=1)
    z = z_scores(protocol, Grid((0.5, 1.0, 3.0), (0.1,)), Sizes(400, 2, 4000), networks=8)
    assert np.abs(z).max() < 4.5


def test_conditionally_gaussian_features_agree_with_the_theory():
    srf = SpikedFeatures(
        "relu",
        "sin",
        (1.3, 1),
        (1.5, 0.5),
        0.8,
        beta=0.8,
        fraction=(0.5, 0.5),
        bias=(0.2, -0.2),
        model="conditional_gaussian",
    )
    z = z_scores(srf, Grid((0.5, 2.0), (0.1,)), Sizes(400, 1, 4000), networks=10)
    assert np.abs(z).max() < 4.5


@pytest.mark.parametrize("name", ["gaussian", "rademacher", "uniform", "student_t:5"])
def test_inputs_have_mean_zero_and_unit_variance(name):
    inputs = lookup_inputs(name)(default_rng(0), (2000, 100))
    assert inputs.dtype == np.float32
    assert inputs.mean() == pytest.approx(0, abs=0.01)
    assert inputs.var() == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("name", ["cauchy", "student_t:2", "student_t:", "student_t:inf"])
def test_inputs_without_unit_variance_are_refused(name):
    with pytest.raises(InvalidParametersError, match="inputs = .*must be one of gaussian"):
        Protocol("tanh", "sign", 1, alpha0=1, beta=1, inputs=name)


@pytest.mark.parametrize("rows", [7, 20, 33])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("groups", [1, 2])
def test_the_readout_is_the_ridge_minimiser(rows, ridge, groups):
    rng = default_rng(2)
    shares = np.eye(groups)[np.arange(20) % groups]
    path = RidgePath(shares)
    features, labels = rng.standard_normal((rows, 20)) + 1, rng.standard_normal(rows)
    for block in np.array_split(np.arange(rows), 3):
        path.extend(features[block].copy(), labels[block])
    (readout,), (training_error,), _ = path.fit(rows)((ridge,))
    gradient = features.T @ (features @ readout - labels) + ridge * readout
    assert gradient == pytest.approx(0, abs=1e-6)
    assert training_error == pytest.approx(np.mean((labels - features @ readout) ** 2), abs=1e-9)


@pytest.mark.parametrize(
    ("problem", "ridges"),
    [
        (Protocol("tanh", "sign", 3, alpha0=2, beta=1), (0.01, 0.1)),
        (Protocol("tanh", "tanh", 1, 0.5, 0.7, readout=((-1, 0.5), (1, 0.5))), (0.01,)),
        (SpikedFeatures("relu", "sin", 1, (0.5, 3), 0.9, 1, fraction=(0.3, 0.7)), (0.1,)),
    ],
)
def test_single_precision_moves_no_error_by_a_thousandth_of_its_error_bar(
    problem, ridges, monkeypatch
):
    grid, sizes = Grid((0.5, 0.98, 1.03, 3.0), ridges), Sizes(300, 2, 2000)
    single = simulate(problem, grid, sizes, range(6), 1)
    monkeypatch.setattr(simulate_module, "SINGLE_FROM", np.inf)
    double = simulate(problem, grid, sizes, range(6), 1)
    for name in ("test_error", "training_error"):
        one, two = (summarise(getattr(found, name)) for found in (single, double))
        assert np.any(one.mean != two.mean)
        assert np.all(np.abs(one.mean - two.mean) < 1e-3 * two.stderr)


def test_small_ridges_are_fitted_in_double_precision(monkeypatch):
    protocol, grid = Protocol("tanh", "sign", 1, alpha0=1, beta=1), Grid((1.0,), (0.0, 1e-3))
    errors = []
    for threshold in (simulate_module.SINGLE_FROM, np.inf, 0):
        monkeypatch.setattr(simulate_module, "SINGLE_FROM", threshold)
        errors.append(simulate(protocol, grid, Sizes(100, 1, 500), [0], 1).test_error)
    assert np.array_equal(errors[0], errors[1])
    assert np.all(errors[0] != errors[2])


@pytest.mark.parametrize("name", ["erf", "sign", "sin", "relu", "he3", "polynomial:1,1,0.5"])
def test_closed_form_covariances_are_expectations(name):
    function, (A, B, C) = lookup(name), (1.3, 0.7, -0.6)
    assert function.moments is not None
    z, weights = split_rule(unit_edges(np.array(function.kinks)), 2)
    a = np.sqrt(A) * z
    given = function.moments(C / A * a, np.sqrt(B - C**2 / A)).mean
    expected = weights @ (function.value(a) * given)
    found = function.covariance(np.array([C]), np.array([A]), np.array([B]))
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "problem",
    [
        Protocol("erf", "sign", 2, alpha0=2, beta=1),
        SpikedFeatures("relu", "sin", 1.2, (0.5, 2), 0.8, 0.8, fraction=(0.5, 0.5)),
    ],
)
def test_the_closed_form_test_is_the_limit_of_many_test_samples(problem):
    grid = Grid((0.5, 2.0), (0.1,))
    exact = simulate(problem, grid, Sizes(80, 1, "exact"), range(8), 1)
    sampled = simulate(problem, grid, Sizes(80, 1, 20_000), range(8), 1)
    assert np.array_equal(exact.training_error, sampled.training_error)
    for name, spread in (("test_error", 0.01), ("learned_function", 0.06)):
        gap = getattr(sampled, name) - getattr(exact, name)
        assert np.abs(np.nanmean(gap, axis=0)).max() < spread
    ratio = sampled.test_error / exact.test_error
    assert ratio.mean() == pytest.approx(1, abs=0.01)


def test_activations_without_closed_forms_need_test_samples():
    protocol = Protocol("tanh", "sign", 1, alpha0=1, beta=1)
    with pytest.raises(InvalidParametersError, match="tanh has no closed form"):
        simulate(protocol, Grid((1,), (1,)), Sizes(50, 1, "exact"), [0], 1)


def test_a_replicate_does_not_depend_by_a_bit_on_threads_or_company_or_sample_sizes():
    protocol = Protocol(
        "tanh", "sign", 1, alpha0=8, beta=1, noise=0.1, readout=((1, 0.5), (2, 0.5))
    )
    sizes = Sizes(128, 2, 2 * FEWER_ROWS + 10)
    assert 8 * 128 > FEWER_ROWS  # several blocks of each kind
    assert 9 * 128 > ROWS
    alone = simulate(protocol, Grid((0.5, 9.5), (0.1, 1.0)), sizes, [2], 5)
    within = simulate(
        protocol, Grid((0.5, 0.7, 9, 9.5, 20), (0.1, 1.0)), sizes, range(3), 5, threads=3
    )
    for name in MEASURED:
        part = getattr(within, name)[2:][:, :, [0, 3]]
        assert np.array_equal(part, getattr(alone, name), equal_nan=True), name


@pytest.mark.parametrize("tests", [1000, "exact"])
def test_a_single_point_has_the_bits_that_it_has_in_a_grid(tests):
    protocol = Protocol("erf", "sign", 1, alpha0=1, beta=1)
    grids = Grid((0.5,), (0.1,)), Grid((0.5, 2), (1e-4, 0.1, 1.0))
    one, more = (simulate(protocol, grid, Sizes(100, 1, tests), [0], 5) for grid in grids)
    for name in MEASURED:
        part = getattr(more, name)[:, :, :1, 1:2]
        assert np.array_equal(getattr(one, name), part, equal_nan=True), name


def test_groups_without_a_neuron_are_refused():
    letters = ((1, 0.5), (2, 0.001), (3, 0.499))
    protocol = Protocol("tanh", "sign", 1, alpha0=1, beta=1, readout=letters)
    with pytest.raises(InvalidParametersError, match="readout = 0.001: must be at least one neu"):
        simulate(protocol, Grid((1,), (1,)), Sizes(50), [0], 1)


def test_a_ridge_below_rounding_is_the_limit_of_none():
    srf = SpikedFeatures("linear", "tanh", 1, 0.5, 0.5, beta=2)  # Phi has rank d at most
    found = simulate(srf, Grid((1.5,), (0.0, 1e-14, 1e-12)), Sizes(60, 1, 2000), [0], 1)
    assert np.ptp(found.test_error) < 1e-3 * found.test_error.max()


@pytest.mark.parametrize("strength", [1, 1000])
def test_the_closed_form_test_resolves_strong_spikes(strength):
    srf, rng = SpikedFeatures("erf", "sign", 1, strength, 1, 1), default_rng(3)
    layer, readout = layer_of(srf, Sizes(60)), rng.standard_normal((1, 60)) / 60
    weights, theta = layer.weights.astype(float), layer.theta.astype(float)
    theta /= np.linalg.norm(theta)
    A = np.sum(weights**2, axis=1)
    kernel = FUNCTIONS["erf"].covariance(weights @ weights.T, A[:, None], A)
    # A sign is an erf of infinite slope.
    cross = 2 / np.pi * np.arcsin(2 * weights @ theta / np.sqrt(2 * (1 + 2 * A)))
    expected = 1 - 2 * readout @ cross + readout @ kernel @ readout[0]
    assert exact_test(srf, layer, readout)[0] == pytest.approx(expected, rel=1e-7)


def test_memory_does_not_grow_with_samples():
    protocol, peaks = Protocol("tanh", "sign", 1, alpha0=1, beta=1), []
    for alpha, tests in ((40, 2000), (400, 40_000)):
        tracemalloc.start()
        simulate(protocol, Grid((alpha,), (0.1,)), Sizes(64, 1, tests), [0], 1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]


def test_standard_errors_come_from_networks_and_components_add_up():
    rng = default_rng(4)
    networks = rng.normal(0, 2, (4000, 1)) + rng.normal(0, 3, (4000, 5))
    found = summarise(networks)
    assert found.network_variance == pytest.approx(4, rel=0.15)
    assert found.training_variance == pytest.approx(9, rel=0.15)
    assert found.stderr == pytest.approx(np.sqrt((4 + 9 / 5) / 4000), rel=0.15)
