"""Simulated networks are as the trained bulk says."""

import numpy as np
import pytest
from alarms import largest_z

from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes
from giantstep.simulation.replicate_statistics import summarise
from giantstep.simulation.simulate import simulate
from giantstep.theory.readout.solve import solve


def gaps(protocols, grid, dimension, networks, bulks):
    """Return relative gaps of simulation to each theory, and their standard errors."""
    found = {bulk: [] for bulk in bulks}
    for i, protocol in enumerate(protocols):
        raw = simulate(protocol, grid, Sizes(dimension, 2, 1), range(networks), i)
        error = summarise(raw.test_error)
        for bulk in bulks:
            theory = solve(protocol, grid, bulk).test_error
            found[bulk].append([error.mean / theory - 1, error.stderr / theory])
    return {bulk: np.moveaxis(np.array(values), 1, 0) for bulk, values in found.items()}


LETTERS = ((0.5, 0.5), (1.5, 0.5))
# Where the bulk matters most.
SIX = [
    Protocol("erf", "sign", 3, 0.25, 0.3),
    Protocol("erf", "sin", 3, 0.25, 0.5, noise=0.1),
    Protocol("erf", "sin", 1, 0.25, 0.5),
    Protocol("sin", "sign", 3, 0.5, 0.5, readout=LETTERS),
    Protocol("sin", "sin", 1, 0.5, 0.3),
    Protocol("erf", "sign", 3, 1, 0.5, readout=LETTERS),
]
# A fifth of them with several letters.
FORTY = [
    Protocol(
        ("erf", "sin")[i % 2],
        target,
        rate,
        alpha0,
        (0.3, 0.5)[i % 2],
        (0.0, 0.1)[i % 3 == 2],
        readout=LETTERS if i % 5 == 4 else ((1.0, 1.0),),
    )
    for i, alpha0 in enumerate(np.geomspace(0.25, 8, 10).tolist())
    for target in ("sign", "sin")
    for rate in (1.0, 3.0)
]


@pytest.mark.parametrize(
    ("protocols", "networks", "below", "above"),
    [
        pytest.param(SIX, 24, 1.4, 1.6, id="six"),
        pytest.param(FORTY, 32, 1.1, 1.2, id="forty", marks=pytest.mark.slow),
    ],
)
def test_simulated_networks_are_as_the_trained_bulk_says_and_not_as_an_isotropic_one(
    protocols, networks, below, above
):
    """Test errors, extrapolated in 1/d from two sizes, are off by their own standard errors.

    The mean of n sizes |z| is 0.8, give or take 0.6/sqrt(n): `below` is exceeded with a chance of
    about 1 % of six, and 0.1 % of forty.
    """
    grid, bulks = Grid((2.0,), (0.1,)), (ISOTROPIC, TRAINED)
    small = gaps(protocols, grid, 150, networks, bulks)
    large = gaps(protocols, grid, 300, networks // 2, bulks)
    mean = {}
    for bulk in bulks:
        (gap, error), (before, error_before) = large[bulk], small[bulk]
        z = (2 * gap - before) / np.hypot(2 * error, error_before)
        mean[bulk] = np.abs(z).mean()
    assert mean[TRAINED] < below
    assert mean[ISOTROPIC] > above


def test_norms_that_go_with_the_spike_count_for_the_largest_batch():
    """There the rows have an isotropic covariance, but norms that go with their overlaps."""
    protocol, grid = Protocol("erf", "sign", 3, np.inf, 1.0), Grid((3.0,), (0.1,))
    found = gaps([protocol], grid, 300, 24, (ISOTROPIC, TRAINED))
    (without, error), (with_norms, _) = (found[b][:, 0, 0, 0] for b in (ISOTROPIC, TRAINED))
    assert without < -0.03
    assert abs(with_norms) < largest_z(1, 24, rate=0.001) * error < 0.02
