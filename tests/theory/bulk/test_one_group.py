"""One group of neurons whose rows have any covariance: against the general iteration."""

import pytest

from giantstep.problems.bulk_kind import TRAINED
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.theory.readout.solve import solve


@pytest.mark.parametrize("beta", [1e-4, 1e-2, 1.0, 1e2, 1e4])
def test_networks_of_any_width_are_solved_as_two_equivalent_groups_are(beta):
    # Letters of opposite sign are one letter, but two groups, which are solved by iteration.
    grid, rate = Grid((0.5, 2.0), (0.01,)), 300 * min(beta, 0.01)  # a step that is large yet valid
    one = Protocol("tanh", "sin", rate, 1.0, beta)
    two = Protocol("tanh", "sin", rate, 1.0, beta, readout=((-1.0, 0.4), (1.0, 0.6)))
    alone, both = solve(one, grid, TRAINED), solve(two, grid, TRAINED)
    assert not alone.status.any()
    # Of two groups the theory leaves out the fluctuations of norms.
    assert alone.test_error == pytest.approx(both.test_error, rel=1e-3)
