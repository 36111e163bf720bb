"""Measurements of fitted networks: test errors, overlaps, and what they learned of the target."""

from __future__ import annotations

import numpy as np

from giantstep.arrays import Array, Reals, Single
from giantstep.problems.convex_losses import Loss
from giantstep.problems.losses import LOSSES, SQUARE
from giantstep.problems.overlaps import Overlaps
from giantstep.simulation.first_layer import FirstLayer

# Values of theta.x at which the learned function is measured, and how far inputs may be from them.
# Averaging over so thin a slab changes the function by less than the noise of its simulation.
SLABS = np.linspace(-2, 2, 17)
SLAB_HALF_WIDTH = 0.05
# Readouts multiplied together: always as many, so that the rounding of one does not depend on how
# many there are.
_TOGETHER = 8
# A shorter part of the target orthogonal to the spike is treated as zero.
_ALIGNED = 1e-5


def measure_overlaps(layer: FirstLayer, readouts: Array) -> Overlaps:
    """Measure the overlaps of readouts, over sqrt(p), of shape (..., p).

    `m = 1.a/sqrt(p)`, `zeta = a.W v/sqrt(p)`, `psi = a.W theta_perp/sqrt(p)`,
    `q1 = a^T W Pi W^T a/p`, `q2 = |a|^2/p` over each group of neurons, where W is the bulk; see
    theory.md section 4.
    """
    spike, theta = layer.spike, layer.directions[0].astype(float)
    across = theta - (theta @ spike) * spike
    norm = np.linalg.norm(across)
    across = across / norm if norm > _ALIGNED else np.zeros_like(across)
    membership, flat = layer.membership.T, readouts.reshape(-1, readouts.shape[-1])
    # One by one, so that neither memory nor rounding depends on how many there are.
    each = [_overlaps_of(layer, readout * membership, across) for readout in flat]
    stacked = (np.stack(values) for values in zip(*each, strict=True))
    return Overlaps(*(x.reshape(*readouts.shape[:-1], *x.shape[1:]) for x in stacked))


def _overlaps_of(layer: FirstLayer, of_group: Array, across: Array) -> Overlaps:
    """Measure one readout, given its part on each group in the rows of `of_group`, shape (G, p)."""
    images = (of_group.astype(np.float32) @ layer.weights).astype(float)
    images -= np.outer(of_group @ layer.strengths, layer.spike)
    zeta, psi = images @ layer.spike, images @ across
    images -= np.outer(zeta, layer.spike)
    return Overlaps(of_group.sum(axis=1), zeta, psi, images @ images.T, np.sum(of_group**2, axis=1))


def products(readouts: Array, matrix: Reals) -> Array:
    """Multiply readouts, shape (R, p), with a matrix, always the same number of rows at a time."""
    count, p = readouts.shape
    padded = np.zeros((-(-count // _TOGETHER), _TOGETHER, p))
    padded.reshape(-1, p)[:count] = readouts
    return np.matmul(padded, matrix).reshape(-1, matrix.shape[1])[:count]


def tally(
    features: Reals, readouts: Array, along: Single, clean: Array, loss: Loss
) -> tuple[Array, ...]:
    """Sum errors, losses and outputs of readouts, over sqrt(p), over test inputs.

    Parameters
    ----------
    features : Reals, shape (n, p)
    readouts : Array, shape (R, p)
        Over sqrt(p).
    along : Single, shape (n,)
        theta . x
    clean : Array, shape (n,)
        Labels without noise.
    loss : Loss

    Returns
    -------
    squares, wrong, losses : Array, shape (R,)
        Sums of the squared errors and of the losses; how many outputs have another sign than the
        label, of outputs of zero half.
    outputs : Array, shape (R, S)
        Sum of the outputs in each slab.
    inside : Array, shape (S,)
        How many inputs lie in each slab.

    Examples
    --------
    >>> off, along, labels = np.zeros((4, 1)), np.zeros(4), np.array([1, 1, 1, -1])
    >>> tally(off, np.ones((1, 1)), along, labels, LOSSES[SQUARE])[1]
    array([2.])
    """
    outputs = products(readouts, features.astype(float).T)
    inside = (np.abs(along[:, None] - SLABS) < SLAB_HALF_WIDTH).astype(float)
    slabs = products(outputs, inside)
    # Where all neurons are off an output is zero, and its sign is left to chance.
    wrong = (1 - np.sign(outputs * clean)).sum(axis=1) / 2
    squares = ((outputs - clean) ** 2).sum(axis=1)
    losses = squares / 2 if loss == LOSSES[SQUARE] else loss.value(clean, outputs).sum(axis=1)
    return squares, wrong, losses, slabs, inside.sum(axis=0)
