"""Simulated networks agree with the theory of the square loss within honest error bars."""

import numpy as np
from alarms import largest_z

from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.questions.compare import compare
from giantstep.simulation.replicate_statistics import summarise
from giantstep.simulation.simulate import simulate
from giantstep.theory.readout.solve import solve

ERRORS = ("test_error", "training_error")
ZERO_ONE = "classification_error"
OVERLAPS = ("m", "zeta", "psi", "q1", "q2")
NETWORKS = 16


def assert_agreement(problem, grid, sizes, names=ERRORS):
    """Compare in standard errors, beside 1 % for the finite size; a false alarm has 1 % at most."""
    raw, exact = simulate(problem, grid, sizes, range(NETWORKS), root_seed=1), solve(problem, grid)
    scores = []
    for name in names:
        found, expected = summarise(getattr(raw, name)), getattr(exact, name)
        scale = 0.01 * np.abs(expected).max()
        scores.append(((found.mean - expected) / np.hypot(found.stderr, scale)).ravel())
    z = np.abs(np.concatenate(scores))
    assert z.max() < largest_z(z.size, NETWORKS)


def test_simulated_spiked_features_agree_with_the_theory_in_errors_and_overlaps():
    srf = SpikedFeatures("tanh", "sin", 1.3, 1.2, 0.7, beta=0.7, noise=0.1)
    assert_agreement(
        srf,
        Grid((0.3, 1.0, 2.5), (0.05, 1.0)),
        Sizes(400, 2, 4000),
        (*ERRORS, *OVERLAPS),
    )


def test_networks_with_reversed_labels_agree_with_the_theory():
    problem = Protocol("relu", "sign", 1, alpha0=3, beta=0.7, steps=2, label_flips=0.15)
    found = compare(
        problem, [0.7, 2], 0.3, bulk="trained", dimension=400, networks=NETWORKS, test_samples=4000
    )
    scores = [found[f"z_score_{name}"].sel(theory="finite") for name in (*ERRORS, ZERO_ONE)]
    assert np.max(np.abs(scores)) < largest_z(6, NETWORKS)


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
    assert_agreement(
        srf,
        Grid((0.5, 2.0), (0.1,)),
        Sizes(600, 1, 4000),
        (*ERRORS, *OVERLAPS),
    )


def test_simulated_networks_agree_with_the_theory_after_a_large_batch():
    protocol = Protocol("tanh", "sin", 1, alpha0=20, beta=1)
    assert_agreement(protocol, Grid((0.5, 1.0, 3.0), (0.1,)), Sizes(400, 2, 4000))


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
    assert_agreement(srf, Grid((0.5, 2.0), (0.1,)), Sizes(400, 1, 4000))
