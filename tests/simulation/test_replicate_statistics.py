"""Standard errors come from networks, and components of variance add up."""

import numpy as np
import pytest
from numpy.random import default_rng

from giantstep.simulation.replicate_statistics import summarise


def test_standard_errors_come_from_networks_and_components_add_up():
    """Estimates from 4000 networks are off by 2 % to 4 %, a quarter of what is allowed."""
    rng = default_rng(4)
    networks = rng.normal(0, 2, (4000, 1)) + rng.normal(0, 3, (4000, 5))
    found = summarise(networks)
    assert found.network_variance == pytest.approx(4, rel=0.15)
    assert found.training_variance == pytest.approx(9, rel=0.15)
    assert found.stderr == pytest.approx(np.sqrt((4 + 9 / 5) / 4000), rel=0.15)
