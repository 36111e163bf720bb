"""Simulated networks are as the trained bulk says."""

import numpy as np

from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED, TRAINED_NORMS
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import EXACT, Sizes
from giantstep.simulation.replicate_statistics import summarise
from giantstep.simulation.simulate import simulate
from giantstep.theory.solve import solve


def gaps(protocols, grid, dimension, networks, bulks):
    """Give relative gaps of simulation to each theory, and their standard errors."""
    found = {bulk: [] for bulk in bulks}
    for i, protocol in enumerate(protocols):
        raw = simulate(protocol, grid, Sizes(dimension, 2, EXACT), range(networks), i)
        error = summarise(raw.test_error)
        for bulk in bulks:
            theory = solve(protocol, grid, bulk).test_error
            found[bulk].append([error.mean / theory - 1, error.stderr / theory])
    return {bulk: np.moveaxis(np.array(values), 1, 0) for bulk, values in found.items()}


def test_simulated_networks_are_as_the_trained_bulk_says_and_not_as_an_isotropic_one():
    # Forty protocols, extrapolated in 1/d from two sizes; a fifth of them with several letters.
    readouts = [((1.0, 1.0),)] * 4 + [((0.5, 0.5), (1.5, 0.5))]
    protocols = [
        Protocol(
            ("erf", "sin")[i % 2], target, rate, alpha0, (0.3, 0.5)[i % 2], (0.0, 0.1)[i % 3 == 2],
            readout=readouts[i % 5],
        )
        for i, alpha0 in enumerate(np.geomspace(0.25, 8, 10).tolist())
        for target in ("sign", "sin")
        for rate in (1.0, 3.0)
    ]  # fmt: skip
    grid, bulks = Grid((2.0,), (0.1,)), (ISOTROPIC, TRAINED, TRAINED_NORMS)
    small, large = gaps(protocols, grid, 150, 32, bulks), gaps(protocols, grid, 300, 16, bulks)
    mean = {}
    for bulk in bulks:
        (gap, error), (before, error_before) = large[bulk], small[bulk]
        z = (2 * gap - before) / np.hypot(2 * error, error_before)
        mean[bulk] = np.abs(z).mean()
    # E|z| is 0.8, and its mean over forty is off by 0.1.
    assert max(mean[TRAINED], mean[TRAINED_NORMS]) < 1.1
    assert mean[ISOTROPIC] > 1.2


def test_norms_that_go_with_the_spike_count_for_the_largest_batch():
    # There the trained bulk is the isotropic one, and the network is better than either says.
    protocol, grid = Protocol("erf", "sign", 3, np.inf, 1.0), Grid((3.0,), (0.1,))
    found = gaps([protocol], grid, 300, 24, (TRAINED, TRAINED_NORMS))
    (without, error), (with_norms, _) = (found[b][:, 0, 0, 0] for b in (TRAINED, TRAINED_NORMS))
    assert without < -0.03
    assert abs(with_norms) < 4 * error < 0.02
