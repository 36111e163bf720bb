"""Gradient flow on the readout, stopped at a time."""

import math

import numpy as np
import pytest

from giantstep import Protocol, SpikedFeatures
from giantstep.numerics.stopping_filter import stopping_filter
from giantstep.problems.losses import FLOW
from giantstep.theory.readout.solve import readout_of
from giantstep.theory.readout.status import Status

NOISY = SpikedFeatures("tanh", "sin", 1.2, 1.2, 0.9, beta=1, noise=0.2)
STEP = Protocol("tanh", "sin", 3, alpha0=2, beta=0.5, noise=0.1)
LETTERS = Protocol("tanh", "sin", 3, 2, 0.5, readout=((1.0, 0.6), (-0.5, 0.4)))


def test_weighted_ridges_are_gradient_flow_on_features():
    rng = np.random.default_rng(0)
    features, labels = rng.standard_normal((60, 40)) / math.sqrt(40), rng.standard_normal(60)
    values, vectors = np.linalg.eigh(features.T @ features)
    along = vectors.T @ features.T @ labels
    ridges, (weights, coarse), _ = stopping_filter()
    for time in (0.01, 1, 100):
        flow = vectors @ (-np.expm1(-time * values) / values * along)
        fits = [vectors @ (along / (values + ridge / time)) for ridge in ridges]
        assert weights @ np.array(fits) == pytest.approx(flow, abs=3e-5 * np.linalg.norm(flow))
        assert coarse @ np.array(fits) == pytest.approx(flow, abs=1e-3 * np.linalg.norm(flow))


def test_reference_values():
    # docs/theory/early-stopping.md; networks of d = 400 agree with them.
    solution = readout_of(NOISY, loss=FLOW).solve(np.full(4, 1.5), 1 / np.array([0.5, 3, 20, 200]))
    assert solution.test_error == pytest.approx([0.0953, 0.1259, 0.2530, 0.5465], abs=5e-5)
    assert np.all(solution.status == Status.CONVERGED)
    assert np.all(solution.quadrature_error < 1e-4)


@pytest.mark.parametrize(
    ("problem", "bulk", "dimension"),
    [
        (STEP, "trained", math.inf),
        (STEP, "trained", 300),
        (STEP, "isotropic", 300),
        (LETTERS, "trained", 300),
    ],
)
def test_ends_are_those_of_ridges(problem, bulk, dimension):
    alpha, ridge = np.full(2, 2.0), np.array([1e8, 1e-6])
    stopped = readout_of(problem, bulk, FLOW, dimension).solve(alpha, ridge)
    plain = readout_of(problem, bulk, dimension=dimension).solve(alpha, np.array([1e8, 0.0]))
    for name in ("test_error", "training_error", "m", "psi", "q2"):
        expected = getattr(plain, name)
        assert getattr(stopped, name) == pytest.approx(expected, rel=1e-3, abs=1e-5)


def test_training_error_falls_with_time():
    times = np.geomspace(1e-2, 1e4, 13)
    solution = readout_of(STEP, "trained", FLOW, 200).solve(np.full(13, 1.0), 1 / times)
    assert np.all(np.diff(solution.training_error) < 1e-8)
