"""Norms of rows at finite width, against simulated rows that only the own output moves."""

import numpy as np
import pytest
from alarms import largest_z
from numpy.random import SeedSequence

from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes
from giantstep.simulation.first_layer import first_layer
from giantstep.simulation.threads import workers
from giantstep.theory.first_layer.equivalent_features import equivalent_features
from giantstep.theory.readout.solve import solve

LETTERS = ((-1.0, 0.5), (2.0, 0.5))


@pytest.mark.parametrize("alpha0", [np.inf, 2])
def test_norms_of_rows_are_those_of_simulated_rows(alpha0):
    # Labels are negligible, so that the step takes nothing but the own output off the rows.
    protocol = Protocol("tanh", "polynomial:0,1e-6", 2, alpha0, beta=0.5, readout=LETTERS)
    sizes, networks = Sizes(400), 12
    norms = np.empty((networks, 2))
    with workers(1) as pool:
        for network in range(networks):
            layer = first_layer(protocol, sizes, network, SeedSequence(0), pool)
            squares = np.sum(layer.weights.astype(float) ** 2, axis=1)
            norms[network] = squares @ layer.membership / layer.membership.sum(axis=0)
    mean, error = norms.mean(axis=0), norms.std(axis=0, ddof=1) / np.sqrt(networks)
    srf = equivalent_features(protocol, sizes.dimension)
    expected = srf.groups.c + srf.groups.u**2  # what all rows share belongs to the spike
    # Corrections of relative order 1/p remain: up to a fiftieth of what the own output adds.
    gap = np.maximum(np.abs(mean - expected) - 0.02 * np.abs(expected - 1), 0)
    assert np.all(gap <= largest_z(2, networks, 0.001) * error)
    assert np.all(np.abs(mean - 1) > 5 * error)


@pytest.mark.parametrize("activation", ["relu", "softplus"])
def test_rows_of_activations_that_are_not_odd_have_the_norms_of_simulated_rows(activation):
    protocol = Protocol(activation, "sin", 1, alpha0=8, beta=1)
    sizes, networks, seed = Sizes(100), 40, SeedSequence(0)
    with workers(1) as pool:
        layers = [first_layer(protocol, sizes, network, seed, pool) for network in range(networks)]
    squares = [np.mean(np.sum(layer.weights.astype(float) ** 2, axis=1)) for layer in layers]
    error = np.std(squares, ddof=1) / np.sqrt(networks)
    own, limit = (equivalent_features(protocol, d) for d in (sizes.dimension, np.inf))
    expected = own.groups.c[0] + own.spike_strength[0] ** 2
    # What He2 adds, of relative order 1/d, remains.
    assert abs(np.mean(squares) - expected) < largest_z(1, networks, 0.001) * error + 2e-3
    assert abs(own.groups.c[0] - limit.groups.c[0]) > 2 * error


def test_without_noise_of_a_batch_the_trained_bulk_is_isotropic_at_finite_dimension():
    without_b3 = "polynomial:0,2.5,0,-1,0,0.1"  # z + He5/10: norms do not depend on the spike
    protocol = Protocol(without_b3, "sign", 0.2, np.inf, beta=0.5, readout=LETTERS)
    grid = Grid((0.7, 2), (0.1,))
    isotropic, trained = (solve(protocol, grid, bulk, 100) for bulk in (ISOTROPIC, TRAINED))
    np.testing.assert_allclose(trained.test_error, isotropic.test_error, rtol=1e-10)
