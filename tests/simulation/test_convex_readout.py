"""Readouts of any convex loss minimise their objective."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng

from giantstep.problems.grid import Grid
from giantstep.problems.losses import lookup_loss
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes
from giantstep.simulation import convex_readout
from giantstep.simulation.convex_readout import ConvexPath
from giantstep.simulation.ridge import RidgePath
from giantstep.simulation.simulate import simulate
from giantstep.validation import InvalidParametersError

PROTOCOL = Protocol("tanh", "sign", 2, alpha0=1, beta=1)


LOSSES = ("square", "huber:0.3", "huber:1e6", "hinge", "logistic")


def samples(n, p, signs=True, seed=0):
    """Features with a common part as large as a spike makes it, and labels that follow it."""
    rng = default_rng(seed)
    x = rng.standard_normal(n)
    features = np.tanh(x[:, None] + rng.standard_normal((n, p)))
    labels = np.tanh(3 * x) + 0.5 * rng.standard_normal(n)
    return features, np.sign(labels) if signs else labels


def fitted(loss, features, labels, ridge):
    path = ConvexPath(lookup_loss(loss))
    for start in range(0, len(labels), 100):
        path.extend(features[start : start + 100], labels[start : start + 100])
    return path.fit(len(labels))((ridge,))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("ridge", [0.1, 10])
def test_no_readout_nearby_has_a_smaller_objective(loss, ridge):
    features, labels = samples(150, 80)
    (readout,), (error,), (mean_loss,) = fitted(loss, features, labels, ridge)
    value = lookup_loss(loss).value

    def objective(a):
        return np.sum(value(labels, features @ a)) + ridge / 2 * a @ a

    found, size = objective(readout), np.linalg.norm(readout)
    for direction in default_rng(1).standard_normal((40, 80)):
        for length in (1e-4, 1e-2):
            other = readout + length * size * direction / np.linalg.norm(direction)
            assert objective(other) > found * (1 - 1e-5)
    assert error == pytest.approx(np.mean((labels - features @ readout) ** 2))
    assert mean_loss == pytest.approx(np.mean(value(labels, features @ readout)))


@pytest.mark.parametrize("shape", [(60, 100), (400, 50)])
@pytest.mark.parametrize("loss", ["square", "huber:1e6"])
def test_square_loss_is_ridge_regression(loss, shape, monkeypatch):
    monkeypatch.setattr(convex_readout, "ACCURACY", 1e-9)
    features, labels = samples(*shape, signs=False)
    found = fitted(loss, features, labels, 3.0)
    path = RidgePath(np.ones((shape[1], 1), np.float32))
    path.extend(features.copy(), labels)
    expected = path.fit(shape[0])((3.0,))
    assert found.readouts[0] == pytest.approx(expected.readouts[0], abs=1e-6)
    assert found.errors == pytest.approx(expected.errors, rel=1e-6)
    assert found.losses == pytest.approx(expected.errors / 2, rel=1e-6)


def test_a_fit_that_cannot_be_certified_is_refused(monkeypatch):
    monkeypatch.setattr(convex_readout, "ACCURACY", 0.0)
    features, labels = samples(300, 40)
    with pytest.raises(InvalidParametersError, match="ridge = 0.01: must be larger: the fit"):
        fitted("logistic", features, labels, 40 * 0.01)


def test_what_is_measured_of_losses():
    grid, sizes = Grid((1.0,), (0.1,)), Sizes(100, 1, 2000)
    square = simulate(PROTOCOL, grid, sizes, [0], 1)
    assert square.test_loss == pytest.approx(square.test_error / 2)
    assert square.training_loss == pytest.approx(square.training_error / 2)
    assert 0.1 < square.classification_error.item() < 0.5
    sine = simulate(replace(PROTOCOL, target="sin"), replace(grid, loss="huber"), sizes, [0], 1)
    assert np.isnan(sine.classification_error).all()


@pytest.mark.parametrize("differing", [{"target": "sin"}, {"noise": 0.1}])
def test_losses_that_cannot_be_are_refused(differing):
    problem, grid = replace(PROTOCOL, **differing), Grid((1,), (1,), "hinge")
    with pytest.raises(
        InvalidParametersError, match="loss = 'hinge': must be a loss for any labels"
    ):
        simulate(problem, grid, Sizes(50), [0], 1)
