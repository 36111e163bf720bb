"""Networks whose initial readout has several values, after several steps."""

import math

import numpy as np
import pytest
from networks import assert_near, first_layers

from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.theory.first_layer.layer import layer_of
from giantstep.theory.readout.solve import solve

POINT = Grid((2.0,), (0.1,))
SIGNS, ONE_TWO = ((-1, 0.5), (1, 0.5)), ((1, 0.5), (2, 0.5))
# By another program, at rate 2, alpha0 = 4 and beta = 1: steps, overlaps of the spikes with the
# target, their Gram matrix and c; test errors, isotropic and trained; training error at d = 400.
# Trained ones of several steps are our own: networks show that the other program's covariance of
# rows is wrong, see below.
QUADRATIC = "polynomial:-0.5,1,0.5"
REFERENCE = [
    (("relu", "sign"), SIGNS, 1, (-0.7978846, 0.7978846), (0.8866198, -0.8866198, 0.8866198),
     (1.25, 1.25), (0.66849042, 0.67093387)),
    (("relu", QUADRATIC), SIGNS, 2, (-1.106338, 1.893662), (1.474528, -2.273432, 4.197357),
     (1.713616, 1.232473), (0.55382786, 0.54062692)),
    (("tanh", "sin"), ONE_TWO, 3, (0.6383377, 1.553712), (0.4321103, 1.005362, 2.465149),
     (1.405907, 1.862178), (0.02029727, 0.01950402, 0.01171724)),
]  # fmt: skip


@pytest.mark.parametrize(("names", "readout", "steps", "t", "Q", "c", "errors"), REFERENCE)
def test_spikes_and_errors_are_those_of_the_reference(names, readout, steps, t, Q, c, errors):
    protocol = Protocol(*names, 2, alpha0=4, beta=1, readout=readout, steps=steps)
    state = layer_of(protocol).history[-1]
    assert state.spikes[:, 0] == pytest.approx(t, rel=1e-6)
    assert state.gram[np.triu_indices(2)] == pytest.approx(Q, rel=1e-6)
    assert state.bulk_variance == pytest.approx(c, rel=1e-6)
    for bulk, expected in zip(("isotropic", "trained"), errors, strict=False):
        assert solve(protocol, POINT, bulk).test_error == pytest.approx(expected, rel=5e-7)
    if len(errors) > 2:
        found = solve(protocol, POINT, "trained", dimension=400)
        assert found.training_error == pytest.approx(errors[2], rel=1e-6)


def test_rows_of_networks_have_the_covariance_across_the_spikes():
    protocol, d, found = Protocol("tanh", "sin", 2, 0.5, 1, readout=ONE_TWO, steps=2), 300, []
    state = layer_of(protocol).history[-1]
    along = state.spikes[1] / np.linalg.norm(state.spikes[1])
    across = np.eye(along.size)[0] - along[0] * along
    expected = across @ state.covariance[1] @ across / (across @ across)
    for layer in first_layers(protocol, d, 12):
        rows, theta = layer.weights[layer.member == 1], layer.directions[0]
        spike = rows.mean(axis=0) / np.linalg.norm(rows.mean(axis=0))
        beside = theta - (theta @ spike) * spike
        found.append([d * np.var(rows @ beside) / (beside @ beside)])
    assert_near(found, expected)  # 2.91, and not 2.41


@pytest.mark.parametrize(
    ("activation", "steps", "options"),
    [
        ("tanh", 3, {"noise": 0.2, "outlier_fraction": 0.1, "outlier_variance": 2.0}),
        ("softplus", 2, {"label_flips": 0.1}),
        ("relu", 2, {"alpha0": math.inf}),
        ("relu", 1, {"alpha0": 0}),
    ],
)
def test_a_letter_that_is_given_twice_is_one_letter(activation, steps, options):
    setting = {"learning_rate": 1.5, "alpha0": 3, "beta": 0.8, "steps": steps} | options
    one, two = (
        Protocol(activation, "sign", **setting, readout=readout)
        for readout in (((1, 1),), ((1, 0.3), (1, 0.7)))
    )
    for name in ("test_error", "training_error"):
        expected, found = (getattr(solve(one_of, POINT), name) for one_of in (one, two))
        assert found == pytest.approx(expected, rel=1e-9)
