"""A readout drawn from N(0, 1): the theory takes some values in its place."""

from dataclasses import replace

import numpy as np
import pytest
from networks import first_layers
from scipy.stats import kstest

from giantstep.problems.formatting import format_problem, stated_parameters
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.readout import FINER_NORMAL
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
    assert found.reliability_quadratic < 1e-2  # though entries of m are large


@pytest.mark.slow
def test_other_losses_have_solutions_too():
    hardest = replace(NORMAL, activation="relu", target="sign")
    assert solve(hardest, Grid((2.0,), (0.1,), "huber")).status == 0


def test_networks_draw_their_readout_from_the_normal_law():
    (layer,) = first_layers(replace(NORMAL, beta=20), 100)
    letters = layer.strengths / np.sqrt(np.mean(layer.strengths**2))
    assert kstest(letters, "norm").pvalue > 0.01  # of a fixed seed


def test_it_is_written_as_it_was_given():
    assert Protocol(**stated_parameters(format_problem(NORMAL))) == NORMAL


def test_several_steps_are_refused():
    with pytest.raises(InvalidParametersError, match="1 in the theory of a normal readout"):
        solve(replace(NORMAL, steps=2), POINT)
