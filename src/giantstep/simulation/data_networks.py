"""Networks that are trained on given samples, instead of drawn ones."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import SeedSequence

from giantstep.arrays import Array
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes
from giantstep.simulation.arithmetic import check_weights
from giantstep.simulation.gradients import batch_slopes
from giantstep.simulation.ridge import RidgePath
from giantstep.simulation.samples import FIRST_BATCH, WEIGHTS, stream, unit_rows


def train_on_data(
    protocol: Protocol, inputs: Array, labels: Array, grid: Grid, seed: int, network: int
) -> tuple[Array, Array, Array]:
    """Train one network: split the samples at random, take the step, fit the readouts, test.

    Protocols of one width share the initial weights and the training sets.

    Parameters
    ----------
    protocol : Protocol
        Of one step from a readout of one value; its target means nothing.
    inputs : Array, shape (M, d)
    labels : Array, shape (M,)
    grid : Grid
    seed, network : int
        Determine the split and the initial weights.

    Returns
    -------
    features : Array, shape (N, p)
        Over sqrt(p), of the samples that the step has not seen.
    labels : Array, shape (N,)
    errors : Array, shape (3, alphas, ridges)
        Mean squared errors on samples that neither step nor readout has seen, and on the training
        set; the share of the former whose output has another sign than the label. An output of 0
        counts half.
    """
    root, sizes = SeedSequence(seed), Sizes(inputs.shape[1])
    order = stream(root, network, FIRST_BATCH).permutation(labels.size)
    counts = [sizes.count(alpha) for alpha in grid.alpha]
    batch, rest = np.split(order, [sizes.count(protocol.alpha0)])
    rng, width = stream(root, network, WEIGHTS), sizes.count(protocol.beta)
    weights = unit_rows(rng, width, sizes.dimension).astype(float)
    activation = lookup(protocol.activation)
    slopes = batch_slopes(weights, np.ones(width), activation, inputs[batch], labels[batch])
    rate = protocol.learning_rate * sizes.dimension / width
    weights += rate / max(1, batch.size) * slopes.T @ inputs[batch]
    check_weights(weights, "learning_rate", protocol.learning_rate)
    features = activation.value(inputs[rest] @ weights.T) / math.sqrt(width)
    return features, labels[rest], _fit(features, labels[rest], counts, grid.ridge)


def _fit(features: Array, labels: Array, counts: list[int], ridges: tuple[float, ...]) -> Array:
    """Fit readouts on the last samples, and test them on those that no readout has seen."""
    errors, tests = [], labels.size - max(counts)
    for count in counts:
        path = RidgePath(np.ones((features.shape[1], 1), "f4"))
        path.extend(features[-count:].copy(), labels[-count:])
        fit = path.fit(count)(ridges)
        outputs = fit.readouts @ features[:tests].T
        squares, signs = (outputs - labels[:tests]) ** 2, np.sign(outputs * labels[:tests])
        errors.append([squares.mean(axis=1), fit.errors, (1 - signs.mean(axis=1)) / 2])
    return np.stack(errors, axis=1)
