"""A point that has converged holds a number in every variable, wherever the problem lies."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as some

import giantstep
from giantstep.numerics.function_table import FUNCTIONS
from giantstep.validation import InvalidParametersError


def log_uniform(low, high):
    return some.floats(math.log(low), math.log(high)).map(math.exp)


PROBLEMS = some.fixed_dictionaries({
    "activation": some.sampled_from([n for n, f in FUNCTIONS.items() if f.continuous]),
    "target": some.sampled_from([*FUNCTIONS, "z1+z2+.5*z1*z2"]),
    "learning_rate": log_uniform(0.05, 20),
    "alpha0": some.sampled_from([0, math.inf]) | log_uniform(0.1, 30),
    "beta": log_uniform(0.05, 10),
    "noise": some.sampled_from([0, 0, 0.5]),
    "steps": some.sampled_from([1, 1, 1, 2]),
    "readout": some.sampled_from([((1, 1),), ((1, 1),), ((0.5, 0.5), (-2, 0.5))]),
})  # fmt: skip
POINTS = some.fixed_dictionaries({
    "alpha": log_uniform(0.1, 5),
    "ridge": log_uniform(1e-5, 5),
    "loss": some.sampled_from(["square", "square", "square", "huber", "hinge"]),
    "dimension": some.sampled_from([30, 100, 1000, math.inf]),
})  # fmt: skip


# A tenth of what other properties have: a problem takes up to seconds.
@settings(max_examples=settings().max_examples // 10)
@given(PROBLEMS, POINTS)
def test_a_converged_point_has_a_number_in_every_variable(problem, point):
    try:
        answer = giantstep.solve(giantstep.Protocol(**problem), **point)
    except InvalidParametersError:
        return
    if answer.status == giantstep.Status.CONVERGED:
        assert not [name for name in answer.data_vars if np.isnan(answer[name]).any()]


def test_the_01_error_is_a_number_where_neurons_saturate():
    protocol = giantstep.Protocol("tanh", "sign", 4, alpha0=1.2, beta=0.7)
    errors = giantstep.sweep(protocol, dimension=[300, 1000], alpha=1.4, ridge=0.05)
    small, large = errors.classification_error.values
    assert 0 < small / large - 1 < 0.002


def test_the_01_error_is_left_out_where_there_are_spikes_of_several_directions():
    letters = ((0.5, 0.5), (2.0, 0.5))
    protocol = giantstep.Protocol("tanh", "sign", 2, alpha0=2, beta=1, steps=2, readout=letters)
    answer = giantstep.solve(protocol)
    assert "classification_error" not in answer
    assert not [name for name in answer.data_vars if np.isnan(answer[name]).any()]
    beside = giantstep.compare(protocol, dimension=20, networks=2)
    assert "simulated_classification_error_mean" in beside
