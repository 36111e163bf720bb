"""The classification error of a linear readout is an angle."""

import numpy as np
import pytest
from scipy.special import ndtr

from giantstep.problems.grid import Grid
from giantstep.problems.overlaps import Overlaps
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.readout.classification_error import classification_error
from giantstep.theory.readout.solve import solve


def zero_one(problem, found):
    return classification_error(problem, Overlaps.of(found))


def test_classification_error_of_plain_regression_is_an_angle():
    """A readout of a linear network is a vector: it errs by its angle to the target over pi."""
    linear = SpikedFeatures("linear", "sign", 1, 0, 0, 0.8)
    found = solve(linear, Grid((1.5,), (0.1,)))
    angle = np.arccos(found.psi.item() / np.sqrt(found.zeta.item() ** 2 + found.q1.item()))
    assert zero_one(linear, found).item() == pytest.approx(angle / np.pi, rel=1e-6)


def test_predictions_that_are_sure_but_near_zero_are_resolved():
    features = SpikedFeatures("tanh", "sign", 1, 1.45, 1, 1)
    found = solve(features, Grid((1.0,), (10.0,)))
    z, kappa = np.linspace(-9, 9, 801), np.linspace(1e-9, 0.5, 4001)
    weight = np.exp(-(z**2) / 2) / np.exp(-(z**2) / 2).sum()
    values = np.tanh(1.45 * kappa[:, None] + z)
    mu0, mu1 = values @ weight, values * z @ weight
    variance = mu1**2 * found.q1.item() + (values**2 @ weight - mu0**2 - mu1**2) * found.q2.item()
    mean = mu0 * found.m.item() + kappa * mu1 * found.zeta.item()
    wrong = ndtr(-mean / np.sqrt(variance)) * np.exp(-(kappa**2) / 2) / np.sqrt(np.pi / 2)
    expected = np.trapezoid(wrong, kappa)
    np.testing.assert_allclose(zero_one(features, found).item(), expected, rtol=1e-5)
