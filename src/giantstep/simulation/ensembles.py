"""Errors of averages over networks that share their samples: docs/ensembles.md."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import product
from math import nan

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.grid import Grid
from giantstep.simulation.arithmetic import FEWER_ROWS, ROWS, block_sizes
from giantstep.simulation.first_layer import first_layer
from giantstep.simulation.network_features import NetworkFeatures
from giantstep.simulation.replicates import Replicate
from giantstep.simulation.samples import TEST
from giantstep.simulation.simulate import fit_readouts


def ensembles_of_networks(
    several: Iterable[Replicate], grid: Grid, members: int
) -> dict[str, Array]:
    """Measure averages over networks with initial weights of their own, on the same samples.

    Parameters
    ----------
    several : iterable of Replicate
        The networks of `simulate.simulate`, which are the first of each ensemble.
    grid : Grid
    members : int
        Networks of an ensemble.

    Returns
    -------
    dict of str to Array, shape (networks, alphas, ridges)
        By the names of `sources_of_variance` in the theory, without bias by the numbers of networks
        and training sets; NaN where they need two of them and there is one.
    """
    each = [_measure(replicate, grid, members) for replicate in several]
    return {name: np.stack([one[name] for one in each]) for name in each[0]}


def _measure(of: Replicate, grid: Grid, members: int) -> dict[str, Array]:
    """Train the other networks of an ensemble; fit and test all."""
    draw = partial(first_layer, of.problem, of.sizes, of.network, of.seed, of.pool)
    layers = [of.layer, *map(draw, range(1, members))]
    each = [NetworkFeatures(replace(of, layer=layer), np.float64) for layer in layers]
    blocks = range(len(block_sizes(max(map(of.sizes.count, grid.alpha)), ROWS)))
    places = list(product(range(of.sizes.trainings), blocks))
    tests = block_sizes(of.sizes.test_samples, FEWER_ROWS)
    report = partial(of.report, 1 / (members * len(places) + len(tests)))
    readouts = [fit_readouts(features, places, grid, report).readouts for features in each]

    def block(item: tuple[int, int]) -> Array:
        index, rows = item
        residuals = []
        for features, fitted in zip(each, readouts, strict=True):
            samples, values = features.draw(rows, TEST, index)
            residuals.append(fitted @ values.T - samples.clean)
        report()
        return _powers(np.stack(residuals))

    total = sum(of.pool.map_ahead(block, enumerate(tests)), np.zeros(()))
    return _variances(total / sum(tests), members, of.sizes.trainings)


def _powers(residuals: Array) -> Array:
    """Sum squares over inputs, of shape (K, T, ..., S): of one, of means over K, T and both."""
    means = [residuals.mean(axis=axes, keepdims=True) for axes in ((), 0, 1, (0, 1))]
    return np.stack([(mean**2).mean(axis=(0, 1)).sum(axis=-1) for mean in means])


def _variances(powers: Array, members: int, trainings: int) -> dict[str, Array]:
    """Compute `sources_of_variance` from the mean powers of members and training sets."""
    (one, networks, sets, both), K, T = powers, members, trainings
    k, t = (count / (count - 1) if count > 1 else nan for count in (K, T))
    return {
        "ensemble_error": networks,
        "variance_of_weights": k * (one - networks),
        "variance_of_samples": t * (one - sets),
        "squared_bias": k * t * (both - networks / T - sets / K + one / (K * T)),
    }
