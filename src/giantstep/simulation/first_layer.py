"""The first layer of one network replicate: drawn, and after its gradient steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from giantstep.arrays import Array, Single
from giantstep.numerics.gaussian import moments
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes, group_ends
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.simulation.gradients import batch_slopes, population_gradient
from giantstep.simulation.samples import (
    FEWER_ROWS,
    FIRST_BATCH,
    WEIGHTS,
    block_sizes,
    draw_samples,
    stream,
)
from giantstep.simulation.threads import Workers
from giantstep.validation import Fault, InvalidParametersError

# Beyond, squares of features leave the range of single precision.
LARGEST_WEIGHT = 1e12


@dataclass(frozen=True)
class FirstLayer:
    """One network replicate's first layer, the target's direction, and the spike.

    Weights are held in single precision: the arithmetic of what follows may be another.

    Attributes
    ----------
    weights : Single, shape (p, d)
    bias : Single, shape (p,)
    theta : Single, shape (d,)
    member : array of int, shape (p,)
        The group of each neuron.
    spike : Array, shape (d,)
        v. For a network, the direction of the first batch's mean of y x; NaN after several steps.
    strengths : Array, shape (p,)
        u, such that weights - u v^T is the bulk; NaN after several steps.
    groups : int
        How many groups there are.
    """

    weights: Single
    bias: Single
    theta: Single
    member: NDArray[np.int64]
    spike: Array
    strengths: Array
    groups: int

    @property
    def shares(self) -> Single:
        """Which neuron is in which group, as columns of ones and zeros, shape (p, G)."""
        return np.eye(self.groups, dtype=np.float32)[self.member]


def first_layer(
    problem: Problem, sizes: Sizes, network: int, seed: SeedSequence, pool: Workers
) -> FirstLayer:
    """Draw one network replicate's first layer, and take the steps.

    Raises
    ------
    InvalidParametersError
        If the weights become infinite.
    """
    rng = stream(seed, network, WEIGHTS)
    theta, other = _sphere(rng, 2, sizes.dimension)
    weights = _sphere(rng, sizes.count(problem.beta), sizes.dimension)
    other -= (other @ theta) * theta
    other /= np.linalg.norm(other)
    if isinstance(problem, SpikedFeatures):
        layer = _spiked(problem, weights, theta, other)
        return _sound(layer, "spike_strength", problem.spike_strength)
    letters, fractions = np.array(problem.readout).T
    member = members(fractions, weights.shape[0])
    omega = letters[member].astype(np.float32)
    mean = _steps(problem, sizes, weights, omega, theta, _Batches(seed, network, pool))
    h1 = float(moments(lookup(problem.activation), 0.0, 1.0).slope)
    norm = float(np.linalg.norm(mean))
    # As in `srf`, v takes the sign of h1, so that r >= 0; without a step it is any direction.
    spike = np.copysign(1, h1) * mean / norm if norm > 0 else other.astype(float)
    strengths = problem.learning_rate / problem.beta * abs(h1) * norm * letters[member]
    if problem.steps > 1:
        spike, strengths = np.full_like(spike, np.nan), np.full_like(strengths, np.nan)
    bias = np.zeros(weights.shape[0], dtype=np.float32)
    layer = FirstLayer(weights, bias, theta, member, spike, strengths, letters.size)
    return _sound(layer, "learning_rate", problem.learning_rate)


def _sound(layer: FirstLayer, name: str, value: object) -> FirstLayer:
    """Refuse weights so large that their products overflow; blame a parameter."""
    if not np.abs(layer.weights).max() < LARGEST_WEIGHT:
        allowed = f"small enough that all weights stay below {LARGEST_WEIGHT:g}"
        raise InvalidParametersError([Fault(name, value, allowed)])
    return layer


def members(fractions: Array, neurons: int) -> NDArray[np.int64]:
    """Give the group of each neuron, shared out by `sizes.group_ends`."""
    return np.searchsorted(group_ends(fractions, neurons), np.arange(neurons), side="right")


def _sphere(rng: Generator, rows: int, dimension: int) -> Single:
    """Draw rows uniformly on the unit sphere."""
    normals = rng.standard_normal((rows, dimension), np.float32)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return normals


def _spiked(problem: SpikedFeatures, weights: Single, theta: Single, other: Single) -> FirstLayer:
    """Make spiked random features of random rows (Definition 3.1)."""
    groups = problem.groups
    rho = np.sqrt(1 - problem.alignment**2)
    spike = problem.alignment * theta.astype(float) + rho * other
    member = members(groups.pi, weights.shape[0])
    weights *= np.sqrt(groups.c)[member, None].astype(np.float32)
    for g, u in enumerate(groups.u):
        weights[member == g] += (u * spike).astype(np.float32)
    bias = groups.b[member].astype(np.float32)
    return FirstLayer(weights, bias, theta, member, spike, groups.u[member], groups.c.size)


@dataclass(frozen=True)
class _Batches:
    """Where the batches of a network replicate come from, and who computes on them."""

    seed: SeedSequence
    network: int
    pool: Workers


def _steps(
    problem: Protocol,
    sizes: Sizes,
    weights: Single,
    omega: Single,
    theta: Single,
    batches: _Batches,
) -> Array:
    """Take the gradient steps in place; give the first batch's mean of y x, or its expectation."""
    rate = problem.learning_rate * sizes.dimension / weights.shape[0]
    activation, target = lookup(problem.activation), lookup(problem.target)
    if problem.alpha0 == 0:
        return np.zeros(theta.size)
    if np.isinf(problem.alpha0):
        w, o, direction = (values.astype(float) for values in (weights, omega, theta))
        weights += (rate * population_gradient(w, o, activation, target, direction)).astype("f4")
        return float(moments(target, 0.0, 1.0).slope) * direction
    means = []
    for step in range(problem.steps):
        count = sizes.count(problem.alpha0)
        which = 0 if problem.reuse_batch else step
        gradient, mean = _batch_gradient(problem, weights, omega, theta, count, batches, which)
        gradient *= np.float32(rate / count)
        weights += gradient
        means.append(mean / count)
    return means[0]


def _batch_gradient(
    problem: Protocol,
    weights: Single,
    omega: Single,
    theta: Single,
    count: int,
    batches: _Batches,
    which: int,
) -> tuple[Single, Array]:
    """Sum `omega_i (y - f(x)) sigma'(w_i.x) x`, shape (p, d), and y x over one batch."""
    activation = lookup(problem.activation)

    def block(item: tuple[int, int]) -> tuple[Single, Single, Array]:
        index, rows = item
        rng = stream(batches.seed, batches.network, FIRST_BATCH, which, index)
        samples = draw_samples(problem, theta, rows, rng)
        labels = (samples.clean + samples.noise).astype(np.float32)
        slopes = batch_slopes(weights, omega, activation, samples.inputs, labels)
        return slopes, samples.inputs, labels.astype(float) @ samples.inputs

    gradient, mean = np.zeros_like(weights), np.zeros(theta.size)
    sizes = enumerate(block_sizes(count, FEWER_ROWS))
    for slopes, inputs, correlation in batches.pool.ahead(block, sizes):
        gradient += slopes.T @ inputs
        mean += correlation
    return gradient, mean
