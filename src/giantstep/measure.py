"""What is measured of fitted networks: test errors, overlaps, and what is learned of the target."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from giantstep.activations import Array, Reals, ScalarFunction, Single, lookup
from giantstep.first_layer import FirstLayer
from giantstep.gaussian import split_rule, unit_edges
from giantstep.protocol import Problem

# Where along theta.x the learned function is measured, and how far from there inputs may lie: so
# thin a slab that averaging over it moves the function by less than its simulation's noise.
SLABS = np.linspace(-2.5, 2.5, 21)
SLAB_HALF_WIDTH = 0.05
# Neurons whose kernels with all others are held at once.
_BLOCK = 512
# From here on nothing of the target is left across the spike.
_ALIGNED = 1e-5


class Overlaps(NamedTuple):
    """Overlaps of readouts with a first layer, by groups of neurons; theory.md section 4.

    Each of shape (..., G), q1 of shape (..., G, G).
    """

    m: Array
    zeta: Array
    psi: Array
    q1: Array
    q2: Array


def overlaps(layer: FirstLayer, readouts: Array) -> Overlaps:
    """Measure the overlaps of readouts, over sqrt(p), of shape (..., p).

    `m = 1.a/sqrt(p)`, `zeta = a.W v/sqrt(p)`, `psi = a.W theta_perp/sqrt(p)`,
    `q1 = a^T W Pi W^T a/p`, `q2 = |a|^2/p`, over each group of neurons; W is the bulk.
    """
    groups = layer.shares.T
    of_group = readouts[..., None, :] * groups
    spike, theta = layer.spike, layer.theta.astype(float)
    across = theta - (theta @ spike) * spike
    norm = np.linalg.norm(across)
    across = across / norm if norm > _ALIGNED else np.zeros_like(across)
    flat = of_group.reshape(-1, of_group.shape[-1]).astype(np.float32)
    images = (flat @ layer.weights).astype(float).reshape(*of_group.shape[:-1], -1)
    images -= (of_group @ layer.strengths)[..., None] * spike
    zeta, psi = images @ spike, images @ across
    images -= zeta[..., None] * spike
    return Overlaps(
        m=of_group.sum(axis=-1),
        zeta=zeta,
        psi=psi,
        q1=np.einsum("...gi,...hi->...gh", images, images, optimize=True),
        q2=np.sum(of_group**2, axis=-1),
    )


class Tally(NamedTuple):
    """Sums over test inputs, for R readouts.

    Attributes
    ----------
    squares : Array, shape (R,)
        Of the squared errors.
    outputs : Array, shape (R, S)
        Of the outputs in each slab.
    inside : Array, shape (S,)
        Of ones: how many inputs lie in each slab.
    """

    squares: Array
    outputs: Array
    inside: Array

    def plus(self, other: Tally) -> Tally:
        """Add the sums over other inputs."""
        return Tally(*(a + b for a, b in zip(self, other, strict=True)))


def tally(features: Reals, readouts: Array, along: Single, clean: Array) -> Tally:
    """Sum what test inputs say of readouts, over sqrt(p), of shape (R, p).

    Parameters
    ----------
    features : Reals, shape (n, p)
    readouts : Array, shape (R, p)
    along : Single, shape (n,)
        theta . x
    clean : Array, shape (n,)
        Labels without noise.
    """
    outputs = features @ readouts.T
    inside = (np.abs(along[:, None] - SLABS) < SLAB_HALF_WIDTH).astype(float)
    slabs = outputs.T @ inside
    outputs -= clean[:, None]
    return Tally(np.einsum("ij,ij->j", outputs, outputs), slabs, inside.sum(axis=0))


def exact_test(problem: Problem, layer: FirstLayer, readouts: Array) -> tuple[Array, Array]:
    """Compute test error and learned function over Gaussian inputs in closed form.

    `E (y - a.phi)^2` from the kernel `E phi phi^T` and `E y phi`.

    Parameters
    ----------
    problem : Problem
        Its activation has a `covariance`, and its neurons have no biases.
    layer : FirstLayer
    readouts : Array, shape (R, p)
        Over sqrt(p).

    Returns
    -------
    test_error : Array, shape (R,)
    learned : Array, shape (R, S)
    """
    activation, target = lookup(problem.activation), lookup(problem.target)
    weights = layer.weights.astype(float)
    variance, on_target = np.sum(weights**2, axis=1), weights @ layer.theta.astype(float)
    spread = np.sqrt(np.maximum(variance - on_target**2, 0))
    s, weight = split_rule(unit_edges(np.array(target.kinks)), fineness=2)
    teacher = target.value(s)
    with_target = _conditional_mean(activation, s, on_target, spread).T @ (weight * teacher)
    error = weight @ teacher**2 - 2 * readouts @ with_target
    assert activation.covariance is not None
    for start in range(0, variance.size, _BLOCK):
        rows = slice(start, start + _BLOCK)
        among = weights[rows] @ weights.T
        kernel = activation.covariance(among, variance[rows, None], variance[None, :])
        error += np.einsum("rj,rj->r", readouts[:, rows] @ kernel, readouts)
    return error, readouts @ _conditional_mean(activation, SLABS, on_target, spread).T


def _conditional_mean(
    activation: ScalarFunction, s: Array, on_target: Array, spread: Array
) -> Array:
    """Compute E sigma(w.x) given theta.x = s, shape (S, p)."""
    assert activation.moments is not None
    return activation.moments(np.multiply.outer(s, on_target), spread).mean
