"""A point that has converged has a number in every variable; others are extreme."""

import math

import numpy as np
from hypothesis import given, reject, settings
from hypothesis import strategies as some

import giantstep
from giantstep.numerics.function_table import FUNCTIONS
from giantstep.validation import InvalidParametersError


def between(low, high):
    return some.sampled_from(np.geomspace(low, high, 200).tolist())


PROBLEMS = some.fixed_dictionaries({
    "activation": some.sampled_from([n for n, f in FUNCTIONS.items() if f.continuous]),
    "target": some.sampled_from([*FUNCTIONS, "z1+z2+.5*z1*z2"]),
    "learning_rate": between(0.05, 20),
    "alpha0": some.sampled_from([0, math.inf]) | between(0.1, 30),
    "beta": between(0.05, 10),
    "noise": some.sampled_from([0, 0, 0.5]),
    "decay": some.sampled_from([0, 0, 0.3]),
    "reuse_batch": some.booleans(),
    "readout": some.sampled_from([((1, 1),), ((1, 1),), ((0.5, 0.5), (-2, 0.5))]),
})  # fmt: skip
STEPS = some.sampled_from([{}, {}, {"optimizer": "sign"}, {"steps": 2}])
POINTS = some.fixed_dictionaries({
    "alpha": between(0.1, 5),
    "ridge": between(1e-5, 5),
    "loss": some.sampled_from(["square", "square", "square", "huber", "hinge"]),
    "dimension": some.sampled_from([30, 100, 1000, math.inf]),
})  # fmt: skip


# A tenth of what other properties have: a problem takes up to seconds.
@settings(max_examples=settings().max_examples // 10)
@given(PROBLEMS, STEPS, POINTS)
def test_a_point_has_numbers_where_it_converges_and_it_does_unless_extreme(problem, steps, point):
    try:
        protocol = giantstep.Protocol(**problem, **steps)
        answer = giantstep.solve(protocol, **point)
    except InvalidParametersError:
        reject()
    missing = [name for name in answer.data_vars if np.isnan(answer[name]).any()]
    converged = answer.status == giantstep.Status.CONVERGED
    assert converged == (not missing)
    # The labels of a hinge may be separable, and rows of great norm need more nodes than there are.
    row = max(giantstep.equivalent_features(protocol, point["dimension"]).bulk_variance)
    assert converged or point["ridge"] < 1e-3 or point["loss"] == "hinge" or row > 5


def test_the_01_error_is_a_number_where_neurons_saturate():
    protocol = giantstep.Protocol("tanh", "sign", 4, alpha0=1.2, beta=0.7)
    errors = giantstep.sweep(protocol, dimension=[300, 1000], alpha=1.4, ridge=0.05)
    small, large = errors.classification_error.values
    assert 0 < small / large - 1 < 0.002


def test_the_01_error_is_left_out_where_there_are_spikes_of_several_directions():
    letters = ((0.5, 0.5), (2.0, 0.5))
    protocol = giantstep.Protocol("tanh", "sign", 2, alpha0=2, beta=1, steps=2, readout=letters)
    assert "classification_error" not in giantstep.solve(protocol)
    beside = giantstep.compare(protocol, dimension=20, networks=2)
    assert "simulated_classification_error_mean" in beside
