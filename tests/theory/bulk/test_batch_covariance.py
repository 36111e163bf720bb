"""Traces and forms of the batch covariance are those of an actual batch."""

import numpy as np
import pytest

from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.protocol import Protocol
from giantstep.theory.first_layer.odd_step import OddStep


@pytest.mark.parametrize(
    "protocol",
    [
        Protocol("tanh", "sign", 3, 0.7, 0.8, noise=0.2),
        Protocol("polynomial:0,-1,0,0.3", "relu", 1, 1.7, 0.8),  # whose spike is -E y x
        Protocol("erf", "tanh", 5, 3.0, 0.8, noise=0.01),
    ],
)
def test_traces_and_forms_are_those_of_an_actual_batch(protocol):
    d, rng = 1500, np.random.default_rng(2)
    step = OddStep(protocol)
    batch = step.first_batch()
    theta = np.array([[0.3, 2.0]])
    x = rng.standard_normal((round(protocol.alpha0 * d), d))
    noise = np.sqrt(protocol.noise) * rng.standard_normal(len(x))
    y = lookup(protocol.target).value(x[:, 0]) + noise
    values, vectors = np.linalg.eigh((x * y[:, None] ** 2).T @ x / len(x))
    spike = np.sign(step.agreement) * (y @ x)
    spike /= np.linalg.norm(spike)
    across = np.eye(d)[0] - spike[0] * spike
    directions = vectors.T @ np.stack([spike, across / np.linalg.norm(across)], axis=1)
    single = batch.traces(theta)
    pair = batch.pair_traces(single, single)
    predicted = [*batch.forms(single), *batch.pair_forms(single, single)]
    first, second = (1 / (1 + t * values) for t in theta[0])
    actual = [values**j * first * second for j in range(4)]
    for power, expected in zip(pair, actual, strict=True):
        assert power[0, 0, 1] == pytest.approx(expected.mean(), rel=0.1)
    actual = [first, values * first, *actual[:3]]
    for form, middle in zip(predicted, actual, strict=True):
        entry = form[0, 0] if form.ndim == 4 else form[0, 0, 1]
        expected = directions.T @ (middle[:, None] * directions)
        assert entry == pytest.approx(expected, rel=0.1, abs=0.03 * np.abs(expected).max())
