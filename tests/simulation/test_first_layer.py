"""The first layer follows the protocol."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import SeedSequence

from giantstep.numerics.function_table import FUNCTIONS
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes
from giantstep.simulation.first_layer import first_layer
from giantstep.simulation.gradients import batch_slopes
from giantstep.simulation.samples import FIRST_BATCH, draw_samples, stream
from giantstep.simulation.threads import workers
from giantstep.theory.first_layer.equivalent_features import equivalent_features


def layer_of(problem, sizes, network=0, seed=3):
    with workers(1) as pool:
        return first_layer(problem, sizes, network, SeedSequence(seed), pool)


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


@pytest.mark.parametrize("alpha0", [2, np.inf])
def test_a_smaller_step_moves_the_rows_by_less(alpha0):
    giant, sizes = Protocol("tanh", "sign", 2, alpha0=alpha0, beta=0.5), Sizes(100)
    start = layer_of(replace(giant, alpha0=0), sizes).weights
    step = layer_of(giant, sizes).weights - start
    smaller = layer_of(replace(giant, step_exponent=0.2), sizes)
    assert smaller.weights - start == pytest.approx(step * 100**-0.3, abs=1e-6)


@pytest.mark.parametrize("reuse", [False, True])
def test_several_steps_each_take_the_gradient_at_the_present_weights(reuse):
    sizes, seed = Sizes(50), SeedSequence(3)
    protocol = Protocol("tanh", "sign", 2, alpha0=1.5, beta=0.5, steps=2, reuse_batch=reuse)
    start = layer_of(Protocol("tanh", "sign", 2, alpha0=0, beta=0.5), sizes)
    weights, count = start.weights.astype(float), 75
    for step in range(2):
        rng = stream(seed, 0, FIRST_BATCH, 0 if reuse else step, 0)
        samples = draw_samples(protocol, start.directions, count, rng)
        slopes = batch_slopes(
            weights, np.ones(25), FUNCTIONS["tanh"], samples.inputs, samples.clean
        )
        weights += 2 * 50 / 25 / count * slopes.T @ samples.inputs
    assert layer_of(protocol, sizes).weights == pytest.approx(weights, abs=1e-5)
