"""A step times a power of the inverse covariance: a limit in closed form, networks, refusals."""

import math
from dataclasses import replace

import pytest

import giantstep
from giantstep.problems.protocol import Protocol
from giantstep.theory.first_layer.layer import layer_of
from giantstep.validation import InvalidParametersError

POWER = {"covariance": "power:0.45", "target_decay": 1.5}
HALF = Protocol("erf", "tanh", 1, 2, 0.7, noise=0.1, precondition=0.5, **POWER)


def test_times_the_inverse_the_alignment_is_that_of_inputs_without_a_covariance():
    whitened = layer_of(Protocol("tanh", "sign", 2, 4, 1, precondition=1, **POWER)).features
    plain = layer_of(Protocol("tanh", "sign", 2, 4, 1)).features
    assert whitened.alignment == pytest.approx((1 + math.pi / 8) ** -0.5)
    assert whitened.alignment == pytest.approx(plain.alignment)
    assert whitened.spike_strength == pytest.approx(plain.spike_strength)


@pytest.mark.parametrize("change", [{"steps": 2}, {"optimizer": "sign"}])
def test_theory_refuses_other_steps_and_networks_take_them(change):
    problem = replace(HALF, **change)
    with pytest.raises(InvalidParametersError, match=next(iter(change))):
        giantstep.solve(problem, alpha=1, ridge=0.1)
    assert giantstep.simulate(problem, dimension=40, networks=2).test_error > 0


def test_without_a_covariance_there_is_nothing_to_precondition():
    with pytest.raises(InvalidParametersError, match="precondition"):
        Protocol("tanh", "sign", 2, 4, 1, precondition=0.5)
