"""Networks that are trained on given samples, instead of drawn ones."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import SeedSequence
from scipy.linalg import svd

from giantstep.arrays import Array
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes
from giantstep.simulation.arithmetic import check_weights
from giantstep.simulation.gradients import batch_slopes
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
    labels : Array, shape (M,) or (M, C)
        Neurons take turns in the output whose loss they descend.
    grid : Grid
    seed, network : int
        Determine the split and the initial weights.

    Returns
    -------
    features : Array, shape (N, p)
        Over sqrt(p), of the samples that the step has not seen.
    labels : Array, shape (N,) or (N, C)
    errors : Array, shape (3, alphas, ridges)
        Mean squared errors, summed over outputs, on samples that neither step nor readout has seen,
        and on the training set; the share of the former whose output has another sign than the
        label, or is largest elsewhere. An output of 0 counts half.
    """
    root, sizes = SeedSequence(seed), Sizes(inputs.shape[1])
    order = stream(root, network, FIRST_BATCH).permutation(len(labels))
    counts = [sizes.count(alpha) for alpha in grid.alpha]
    batch, rest = np.split(order, [sizes.count(protocol.alpha0)])
    rng, width = stream(root, network, WEIGHTS), sizes.count(protocol.beta)
    weights = unit_rows(rng, width, sizes.dimension).astype(float)
    activation = lookup(protocol.activation)
    rate = protocol.learning_rate * sizes.dimension / width
    outputs = np.atleast_2d(labels[batch].T)
    for k, output in enumerate(outputs):
        moved = weights[k :: len(outputs)]
        slopes = batch_slopes(moved, np.ones(len(moved)), activation, inputs[batch], output)
        moved += rate / max(1, batch.size) * slopes.T @ inputs[batch]
    check_weights(weights, "learning_rate", protocol.learning_rate)
    features = activation.value(inputs[rest] @ weights.T) / math.sqrt(width)
    return features, labels[rest], _fit(features, labels[rest], counts, grid.ridge)


def _fit(features: Array, labels: Array, counts: list[int], ridges: tuple[float, ...]) -> Array:
    """Fit readouts on the last samples, and test them on those that no readout has seen."""
    labels = labels.reshape(len(labels), -1)
    penalties, test = np.array(ridges)[:, None, None], labels[: len(labels) - max(counts)]
    errors = []
    for count in counts:
        left, values, right = svd(features[-count:], full_matrices=False, check_finite=False)
        along = values[:, None] / (values[:, None] ** 2 + penalties) * (left.T @ labels[-count:])
        outputs = features @ right.T @ along
        tested = outputs[:, : len(test)]
        wrong = (1 - np.sign(tested * test)[..., 0]) / 2
        if labels.shape[1] > 1:
            wrong = tested.argmax(axis=2) != test.argmax(axis=1)
        squares = ((outputs - labels) ** 2).sum(axis=2)
        measured = squares[:, : len(test)], squares[:, -count:], wrong
        errors.append([each.mean(axis=1) for each in measured])
    return np.stack(errors, axis=1)
