"""A readout drawn from N(0, 1): the theory takes some values in its place."""

from dataclasses import replace

import numpy as np
import pytest
from alarms import largest_z
from numpy.random import SeedSequence
from scipy.stats import kstest

import giantstep
from giantstep.problems.formatting import format_problem, stated_parameters
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.readout import FINER_NORMAL
from giantstep.problems.sizes import Sizes
from giantstep.simulation.first_layer import first_layer
from giantstep.simulation.threads import workers
from giantstep.theory.readout.solve import solve
from giantstep.validation import InvalidParametersError

NORMAL = Protocol("tanh", "sin", 2, alpha0=4, beta=1, readout="normal")
POINT = Grid((2.0,), (0.1,))


def test_the_certificate_is_the_change_with_twice_as_many_values():
    found = solve(NORMAL, POINT)
    finer = solve(replace(NORMAL, readout=FINER_NORMAL), POINT)
    change = abs(finer.test_error / found.test_error - 1)
    assert found.quadrature_error == pytest.approx(change, rel=1e-3)
    assert 0 < change < 1e-3


def test_networks_draw_their_readout_from_the_normal_law():
    with workers(1) as pool:
        layer = first_layer(replace(NORMAL, beta=20), Sizes(100), 0, SeedSequence(1), pool)
    letters = layer.strengths / np.sqrt(np.mean(layer.strengths**2))
    assert kstest(letters, "norm").pvalue > 0.01  # of a fixed seed
    assert len(set(letters)) == 2000


def test_it_is_written_as_it_was_given():
    text = format_problem(NORMAL)
    assert "readout='normal'" in text
    assert Protocol(**stated_parameters(text)) == NORMAL


def test_several_steps_are_refused():
    with pytest.raises(InvalidParametersError, match="1 in the theory of a normal readout"):
        solve(replace(NORMAL, steps=2), POINT)


@pytest.mark.slow
@pytest.mark.parametrize("names", [("tanh", "sin"), ("relu", "sign")])
def test_networks_agree_with_the_theory(names):
    """Beside standard errors, 1 % for what the bulk leaves out; 1 % of false alarms at most."""
    activation, target = names
    found = giantstep.compare(
        replace(NORMAL, activation=activation, target=target), 2, 0.1, dimension=400, networks=16
    ).sel(theory="finite")
    gap = found.simulated_test_error_mean / found.test_error - 1
    stderr = found.simulated_test_error_stderr / found.test_error
    assert abs(gap) < largest_z(1, 16) * np.hypot(stderr, 0.01)
