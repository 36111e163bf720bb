"""Steps that take a share off the weights: limits in which rows are known, and networks."""

import numpy as np
import pytest

import giantstep
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.questions.networks import eigenvalues
from giantstep.theory.first_layer.equivalent_features import equivalent_features
from giantstep.theory.readout.solve import solve
from giantstep.validation import InvalidParametersError

GRID = Grid((2.0,), (0.1,))
SINE = Protocol("tanh", "sin", 3, alpha0=4, beta=1, decay=0.5)


def test_rows_lose_a_share_of_their_squared_norm_and_gain_what_the_plain_step_adds():
    plain, decayed = (
        equivalent_features(Protocol("tanh", "sin", 3, alpha0=4, beta=1, decay=decay))
        for decay in (0.0, 0.5)
    )
    assert decayed.groups.c == pytest.approx(plain.groups.c - 1 + 0.5**2)
    assert decayed.groups.u == pytest.approx(plain.groups.u)
    assert decayed.alignment == pytest.approx(plain.alignment)


@pytest.mark.parametrize("decays", [(0.3,), (0.1, 0.2, 0.3)])
def test_without_a_rate_errors_and_spectra_are_those_of_shorter_rows(decays):
    still = Protocol("tanh", "sin", 0, alpha0=2, beta=1, steps=len(decays), decay=decays)
    rows = SpikedFeatures("tanh", "sin", np.prod(1 - np.array(decays)) ** 2, 0.0, 0.0, beta=1)
    found, expected = solve(still, GRID, "trained"), solve(rows, GRID)
    assert found.test_error == pytest.approx(expected.test_error, rel=1e-6)
    of_step, of_rows = giantstep.spectrum(still, alpha=2), giantstep.spectrum(rows, alpha=2)
    for end in ("bulk_lower_edge", "bulk_upper_edge"):
        assert of_step[end].values == pytest.approx(of_rows[end].values, rel=2e-3)


def test_a_layer_that_does_not_know_a_parameter_refuses_it():
    others = [
        {"activation": "relu", "readout": ((1, 0.5), (-1, 0.5))},
        {"steps": 2, "reuse_batch": True},
        {"optimizer": "sign"},
        {"covariance": "power:1"},
    ]
    for other in others:
        given = {"activation": "tanh", "learning_rate": 1, "alpha0": 1, "beta": 1} | other
        with pytest.raises(InvalidParametersError, match=r"decay = 0.1: must be 0.0"):
            equivalent_features(Protocol(target="sin", decay=0.1, **given), 100)


@pytest.mark.slow
def test_the_spectrum_of_networks_ends_where_the_theory_says():
    protocol = Protocol("tanh", "sin", 2, alpha0=3, beta=1, steps=2, decay=0.2)
    simulated = eigenvalues(protocol, 2.0, dimension=800, networks=[0], seed=3)
    found = simulated.simulated_eigenvalue.values
    edge = giantstep.spectrum(protocol, alpha=2).bulk_upper_edge.item()
    largest, next_to = np.sort(np.ravel(found))[::-1][:2]
    assert largest > 10 * edge
    assert next_to == pytest.approx(edge, rel=0.06)
