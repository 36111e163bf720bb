"""The readout minimises the ridge objective."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.linalg import expm

from giantstep.simulation.ridge import RidgePath


@pytest.mark.parametrize("rows", [7, 20, 33])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("groups", [1, 2])
def test_the_readout_is_the_ridge_minimiser(rows, ridge, groups):
    rng = default_rng(2)
    shares = np.eye(groups)[np.arange(20) % groups]
    path = RidgePath(shares)
    features, labels = rng.standard_normal((rows, 20)) + 1, rng.standard_normal(rows)
    for block in np.array_split(np.arange(rows), 3):
        path.extend(features[block].copy(), labels[block])
    (readout,), (training_error,), _ = path.fit(rows)((ridge,))
    gradient = features.T @ (features @ readout - labels) + ridge * readout
    assert gradient == pytest.approx(0, abs=1e-6)
    assert training_error == pytest.approx(np.mean((labels - features @ readout) ** 2), abs=1e-9)


@pytest.mark.parametrize("rows", [7, 33])
def test_a_readout_may_follow_gradient_flow(rows):
    rng = default_rng(3)
    features, labels = rng.standard_normal((rows, 20)), rng.standard_normal(rows)
    path = RidgePath(np.ones((20, 1)), stopped=True)
    path.extend(features.copy(), labels)
    (readout,), (training_error,), _ = path.fit(rows)((4.0,))
    gram, moment = features.T @ features, features.T @ labels
    flow = np.block([[-gram, moment[:, None]], [np.zeros((1, 21))]])
    expected = expm(flow / 4.0)[:-1, -1]
    assert readout == pytest.approx(expected, abs=1e-9)
    assert training_error == pytest.approx(np.mean((labels - features @ expected) ** 2), abs=1e-9)
