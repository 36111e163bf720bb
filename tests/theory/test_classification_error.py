"""The classification error of a linear readout is an angle."""

import numpy as np
import pytest

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
