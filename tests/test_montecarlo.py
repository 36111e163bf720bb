"""Simulated networks follow the protocol, and agree with the theory within honest error bars."""

import numpy as np
import pytest
from numpy.random import SeedSequence, default_rng

from giantstep import montecarlo
from giantstep.activations import FUNCTIONS
from giantstep.gradient import batch_gradient, population_gradient
from giantstep.learning import solve
from giantstep.montecarlo import Sizes, first_layer, simulate
from giantstep.protocol import Grid, Protocol, SpikedFeatures
from giantstep.replicates import summarise
from giantstep.ridge import RidgePath
from giantstep.srf import equivalent_features


def sphere(rng, rows, dimension):
    normals = rng.standard_normal((rows, dimension))
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)


def z_scores(problem, grid, sizes, networks):
    found = summarise(simulate(problem, grid, sizes, range(networks), root_seed=1).test_error)
    return (found.mean - solve(problem, grid).test_error) / found.stderr


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
    found = batch_gradient(weights, omega, FUNCTIONS["tanh"], inputs, labels)
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
        batches.append(batch_gradient(weights, omega, student, inputs, labels) / labels.size)
    stderr = np.std(batches, axis=0, ddof=1) / np.sqrt(len(batches))
    z = (
        np.mean(batches, axis=0) - population_gradient(weights, omega, student, teacher, theta)
    ) / stderr
    assert np.mean(z**2) < 1.7  # rows share their batches, so this spreads widely about 1


def test_first_layer_after_the_step_has_the_equivalent_bulk_and_spike():
    protocol, sizes = Protocol("tanh", "sign", 2, alpha0=2, beta=0.5), Sizes(1200)
    srf = equivalent_features(protocol)
    weights, _, theta = first_layer(protocol, sizes, 0, SeedSequence(3))
    _, strengths, directions = np.linalg.svd(weights, full_matrices=False)
    spike = directions[0]
    along = weights @ spike
    assert strengths[0] > 2 * strengths[1]
    assert abs(spike @ theta) == pytest.approx(srf.alignment, rel=0.03)
    assert abs(along.mean()) == pytest.approx(srf.groups.u[0], rel=0.05)
    bulk = np.sum(weights**2, axis=1) - along**2
    assert bulk.mean() == pytest.approx(srf.groups.c[0], rel=0.03)


def test_simulated_spiked_features_agree_with_the_theory():
    srf = SpikedFeatures("tanh", "sin", 1.3, 1.2, 0.7, beta=0.7, noise=0.1)
    z = z_scores(srf, Grid((0.3, 1.0, 2.5), (0.05, 1.0)), Sizes(400, 2, 4000), networks=8)
    assert np.abs(z).max() < 4.5  # six points; finite size adds about one standard error


def test_simulated_groups_agree_with_the_theory():
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
    z = z_scores(srf, Grid((0.5, 2.0), (0.1,)), Sizes(600, 1, 4000), networks=8)
    assert np.abs(z).max() < 4.5


def test_simulated_networks_agree_with_the_theory_after_a_large_batch():
    protocol = Protocol("tanh", "sin", 1, alpha0=20, beta=1)
    z = z_scores(protocol, Grid((0.5, 1.0, 3.0), (0.1,)), Sizes(400, 2, 4000), networks=8)
    assert np.abs(z).max() < 4.5


@pytest.mark.parametrize("rows", [7, 20, 33])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_the_readout_is_the_ridge_minimiser(rows, ridge):
    rng, path = default_rng(2), RidgePath(20)
    features, labels = rng.standard_normal((rows, 20)), rng.standard_normal(rows)
    for block in np.array_split(np.arange(rows), 3):
        path.extend(features[block], labels[block])
    (readout,), (training_error,) = path.readouts((ridge,))
    gradient = features.T @ (features @ readout - labels) + ridge * readout
    assert gradient == pytest.approx(0, abs=1e-6)
    assert training_error == pytest.approx(np.mean((labels - features @ readout) ** 2), abs=1e-9)


def test_a_replicate_does_not_depend_on_the_grid_the_blocks_or_its_company(monkeypatch):
    protocol = Protocol("tanh", "sign", 1, alpha0=1, beta=1, noise=0.1)
    seed, sizes = 5, Sizes(60, 2, 300)
    whole = simulate(protocol, Grid((0.5, 1.5, 2.0), (0.1, 1.0)), sizes, range(3), seed)
    monkeypatch.setattr(montecarlo, "BLOCK", 17)
    alone = simulate(protocol, Grid((1.5,), (1.0,)), sizes, [2], seed)
    for name in ("test_error", "training_error"):
        part = getattr(whole, name)[2:, :, 1:2, 1:]
        assert getattr(alone, name) == pytest.approx(part, rel=1e-11)


def test_standard_errors_come_from_networks_and_components_add_up():
    rng = default_rng(4)
    networks = rng.normal(0, 2, (4000, 1)) + rng.normal(0, 3, (4000, 5))
    found = summarise(networks)
    assert found.network_variance == pytest.approx(4, rel=0.15)
    assert found.training_variance == pytest.approx(9, rel=0.15)
    assert found.stderr == pytest.approx(np.sqrt((4 + 9 / 5) / 4000), rel=0.15)
