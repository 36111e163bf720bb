"""Norms of rows at finite width, against simulated rows that only the own output moves."""

import numpy as np
import pytest
from networks import assert_near, first_layers

from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.theory.first_layer.equivalent_features import equivalent_features
from giantstep.theory.readout.solve import solve

LETTERS = ((-1.0, 0.5), (2.0, 0.5))


def squares_of(layer):
    return np.sum(layer.weights.astype(float) ** 2, axis=1)


@pytest.mark.parametrize("alpha0", [np.inf, 2])
def test_norms_of_rows_are_those_of_simulated_rows(alpha0):
    # Labels are negligible, so that the step takes nothing but the own output off the rows.
    protocol = Protocol("tanh", "polynomial:0,1e-6", 2, alpha0, beta=0.5, readout=LETTERS)
    norms = [
        [squares_of(layer) @ layer.membership / layer.membership.sum(axis=0)]
        for layer in first_layers(protocol, 400, 12, seed=0)
    ]
    srf = equivalent_features(protocol, 400)
    expected = srf.groups.c + srf.groups.u**2  # what all rows share belongs to the spike
    # Corrections of relative order 1/p remain: up to a fiftieth of what the own output adds.
    assert_near(norms, expected, beside=0.02 * np.abs(expected - 1), rate=0.001)


@pytest.mark.parametrize("activation", ["relu", "softplus"])
def test_rows_of_activations_that_are_not_odd_have_the_norms_of_simulated_rows(activation):
    protocol = Protocol(activation, "sin", 1, alpha0=8, beta=1)
    squares = [[squares_of(layer).mean()] for layer in first_layers(protocol, 100, 40, seed=0)]
    own = equivalent_features(protocol, 100)
    # What He2 adds, of relative order 1/d, remains.
    assert_near(squares, own.groups.c[0] + own.spike_strength[0] ** 2, beside=2e-3, rate=0.001)


def test_without_noise_of_a_batch_the_trained_bulk_is_isotropic_at_finite_dimension():
    without_b3 = "polynomial:0,2.5,0,-1,0,0.1"  # z + He5/10: norms do not depend on the spike
    protocol = Protocol(without_b3, "sign", 0.2, np.inf, beta=0.5, readout=LETTERS)
    grid = Grid((0.7, 2), (0.1,))
    isotropic, trained = (solve(protocol, grid, bulk, 100) for bulk in (ISOTROPIC, TRAINED))
    np.testing.assert_allclose(trained.test_error, isotropic.test_error, rtol=1e-10)
