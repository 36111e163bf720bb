"""The first layer follows the protocol."""

from dataclasses import replace

import numpy as np
import pytest
from networks import first_layers
from numpy.random import SeedSequence

from giantstep.numerics.function_table import FUNCTIONS
from giantstep.problems.protocol import Protocol
from giantstep.simulation.gradients import batch_slopes
from giantstep.simulation.samples import FIRST_BATCH, draw_samples, stream


@pytest.mark.parametrize("alpha0", [2, np.inf])
def test_a_smaller_step_moves_the_rows_by_less(alpha0):
    giant = Protocol("tanh", "sign", 2, alpha0=alpha0, beta=0.5)
    changes = {}, {"alpha0": 0}, {"step_exponent": 0.2}
    large, start, small = (
        next(first_layers(replace(giant, **change), 100)).weights for change in changes
    )
    assert small - start == pytest.approx((large - start) * 100**-0.3, abs=1e-6)


@pytest.mark.parametrize("reuse", [False, True])
def test_several_steps_each_take_the_gradient_at_the_present_weights(reuse):
    seed = SeedSequence(5)
    protocol = Protocol("tanh", "sign", 2, alpha0=1.5, beta=0.5, steps=2, reuse_batch=reuse)
    (start,) = first_layers(replace(protocol, alpha0=0), 50)
    weights, count = start.weights.astype(float), 75
    for step in range(2):
        rng = stream(seed, 0, FIRST_BATCH, 0 if reuse else step, 0)
        samples = draw_samples(protocol, start.directions, count, rng)
        slopes = batch_slopes(
            weights, np.ones(25), FUNCTIONS["tanh"], samples.inputs, samples.clean
        )
        weights += 2 * 50 / 25 / count * slopes.T @ samples.inputs
    assert next(first_layers(protocol, 50)).weights == pytest.approx(weights, abs=1e-5)
