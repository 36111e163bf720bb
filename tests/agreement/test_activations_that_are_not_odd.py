"""One step of activations that are not odd: networks are as theory.md section 13 says."""

import numpy as np
from alarms import largest_z

from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes
from giantstep.simulation.replicate_statistics import summarise
from giantstep.simulation.simulate import simulate
from giantstep.theory.first_layer.equivalent_features import equivalent_features
from giantstep.theory.readout.solve import solve
from giantstep.theory.readout.status import Status

# Large batches: for small ones the bulk has more structure than its norms (docs/functions.md).
PROTOCOLS = [
    Protocol("relu", "polynomial:0.5,1,0.5", 1, alpha0=16, beta=1, noise=0.2),
    Protocol("gelu", "polynomial:0.5,1,0.5", 1, alpha0=64, beta=0.5),
    Protocol("leaky_relu", "relu", 1, alpha0=16, beta=1, noise=0.2),
    Protocol("sigmoid", "sin", 2, alpha0=16, beta=1),
]


def test_networks_are_as_the_theory_with_norms_says_and_not_as_an_isotropic_bulk():
    grid, dimension, networks = Grid((2.0,), (0.1,)), 120, 10
    z = {ISOTROPIC: [], TRAINED: []}
    for protocol in PROTOCOLS:
        raw = simulate(protocol, grid, Sizes(dimension, 2, 4000), range(networks), 3)
        error = summarise(raw.test_error)
        for bulk, found in z.items():
            theory = solve(protocol, grid, bulk, dimension).test_error
            found.append(float((error.mean - theory).item() / error.stderr.item()))
    threshold = largest_z(len(PROTOCOLS), networks, 0.01)
    assert np.abs(z[TRAINED]).max() < threshold
    assert np.abs(z[ISOTROPIC]).max() > threshold


def test_an_even_activation_has_no_spike_and_points_at_finite_dimension_are_resolved():
    protocol = Protocol("abs", "polynomial:0.5,1,0.5", 2, alpha0=16, beta=2)
    srf = equivalent_features(protocol)
    assert (srf.spike_strength, srf.alignment) == ((0.0,), 0.0)
    found = solve(protocol, Grid((0.8, 2.0), (0.1,)), TRAINED, 400)
    assert np.all(found.status == Status.CONVERGED)
