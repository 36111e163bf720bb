"""Input distributions have mean zero and unit variance."""

import numpy as np
import pytest
from numpy.random import default_rng

from giantstep.problems.inputs import KNOWN_INPUTS


@pytest.mark.parametrize("name", ["gaussian", "rademacher", "uniform", "student_t:5"])
def test_inputs_have_mean_zero_and_unit_variance(name):
    """Allowed is what 200,000 numbers exceed with a chance of 1e-5: four standard errors."""
    inputs = KNOWN_INPUTS.lookup(name)(default_rng(0), (2000, 100))
    assert inputs.dtype == np.float32
    assert inputs.mean() == pytest.approx(0, abs=0.01)
    assert inputs.var() == pytest.approx(1, abs=0.03)
