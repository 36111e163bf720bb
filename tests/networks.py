"""Networks beside their theory: first layers, and means within standard errors."""

import numpy as np
from alarms import largest_z
from numpy.random import SeedSequence

from giantstep.problems.overlaps import Overlaps
from giantstep.problems.sizes import Sizes
from giantstep.simulation.first_layer import first_layer
from giantstep.simulation.replicate_statistics import summarise
from giantstep.simulation.simulate import simulate
from giantstep.simulation.threads import workers
from giantstep.theory.readout.classification_error import classification_error
from giantstep.theory.readout.solve import solve


def first_layers(problem, dimension, networks=1, seed=5):
    """Train first layers, one after the other."""
    with workers(1) as pool:
        for network in range(networks):
            yield first_layer(problem, Sizes(dimension), network, SeedSequence(seed), pool)


def assert_near(values, expected, beside=0.0, count=None, rate=0.01):
    """Check that networks, (networks, trainings, ...), have the mean that is expected.

    Allowed are standard errors, by which one of `count` numbers is off with chance `rate`, and
    what the theory leaves out.
    """
    found = summarise(np.asarray(values))
    far = largest_z(count or found.mean.size, len(values), rate) * found.stderr + beside
    assert np.all(np.abs(found.mean - expected) < far), (found.mean - expected, far)


def assert_agreement(problem, grid, sizes, networks, names, bulk="trained", seed=1, beside=0.01):
    """Check that simulated networks have the numbers of the theory at their dimension.

    Allowed is, besides standard errors, a share of the largest number.
    """
    raw = simulate(problem, grid, sizes, range(networks), seed)
    theory = solve(problem, grid, bulk, sizes.dimension)
    for name in names:
        if name == "classification_error":
            expected = classification_error(problem, Overlaps.of(theory))
        else:
            expected = getattr(theory, name)
        count = len(names) * theory.test_error.size
        assert_near(getattr(raw, name), expected, beside * np.abs(expected).max(), count)
