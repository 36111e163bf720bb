"""The first layer of one network replicate: as drawn, and after its gradient steps.

Inputs with a covariance are x = S z; weights W of such inputs are weights W S of z. After the
steps, in which the covariance matters, these take their place, and inputs are z.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from giantstep.arrays import Array, Single
from giantstep.numerics.function_table import ScalarFunction
from giantstep.numerics.gaussian import standard_moments
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.covariance import directions_of
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import SIGN_DESCENT, Protocol
from giantstep.problems.readout import NORMAL
from giantstep.problems.sizes import Sizes, group_ends
from giantstep.problems.spiked_features import CONDITIONAL_GAUSSIAN, Groups, SpikedFeatures
from giantstep.problems.targets import lookup_target, teacher_of
from giantstep.simulation.arithmetic import check_weights
from giantstep.simulation.gradient_steps import batch_steps, take_step
from giantstep.simulation.gradients import population_gradient
from giantstep.simulation.samples import FIRST_BATCH, WEIGHTS, draw_samples, stream, unit_rows
from giantstep.simulation.threads import Workers


@dataclass(frozen=True)
class FirstLayer:
    """One network replicate's first layer, the target's directions, and the spike.

    Weights are stored in single precision, whatever the precision of later computations.

    Attributes
    ----------
    weights : Single, shape (p, d)
    bias : Single, shape (p,)
    directions : Single, shape (D, d)
        Unit vectors; one, unless the target is a teacher.
    member : array of int, shape (p,)
        The group of each neuron.
    spike : Array, shape (d,)
        v. For a network after one step of an odd activation, the direction of the first batch's
        mean of y x; after other steps, of the neurons' mean row if all have one readout, and NaN
        if not. NaN for spikes of several directions.
    strengths : Array, shape (p,)
        u, such that weights - u v^T is the bulk; NaN where v is.
    conditional : Groups or None
        Those of Gaussian features given the projection on the spike; None for a network's.
    """

    weights: Single
    bias: Single
    directions: Single
    member: NDArray[np.int64]
    spike: Array
    strengths: Array
    conditional: Groups | None = None

    @property
    def membership(self) -> Single:
        """Which neuron is in which group, as ones and zeros of shape (p, G)."""
        return np.eye(self.member.max() + 1, dtype=np.float32)[self.member]


def first_layer(
    problem: Problem, sizes: Sizes, network: int, seed: SeedSequence, pool: Workers, member: int = 0
) -> FirstLayer:
    """Draw one network replicate's first layer, and take its gradient steps.

    Members of its ensemble differ by their initial weights alone.

    Raises
    ------
    InvalidParametersError
        If the weights overflow.
    """
    rng = stream(seed, network, WEIGHTS)
    directions, other = _draw_directions(problem, sizes.dimension, rng)
    weights = unit_rows(rng, sizes.count(problem.beta), sizes.dimension)
    if member:
        weights = unit_rows(stream(seed, network, WEIGHTS, member), *weights.shape)
    if isinstance(problem, SpikedFeatures):
        layer = _add_spike(problem, weights, directions, other, rng)
        check_weights(layer.weights, "spike_strength", problem.spike_strength)
        return layer
    stepped, learned = problem.with_giant_step(sizes.dimension).pretraining, directions
    if problem.is_transfer:
        beside = np.sqrt(1 - problem.task_overlap**2) * other
        learned = (problem.task_overlap * directions + beside).astype(np.float32)

    def draw(batch: int, block: int, rows: int) -> tuple[Single, Single]:
        block_rng = stream(seed, network, FIRST_BATCH, batch, block)
        samples = draw_samples(stepped, learned, rows, block_rng)
        inputs = samples.inputs * _scales(stepped) if stepped.has_covariance else samples.inputs
        return inputs, samples.labels.astype(np.float32)

    layer = _train(stepped, sizes, weights, learned, other, draw, pool, rng)
    check_weights(layer.weights, "learning_rate", problem.learning_rate)
    return replace(layer, directions=directions)


def _draw_directions(problem: Problem, dimension: int, rng: Generator) -> tuple[Single, Single]:
    """Draw the target's directions, shape (D, d), and a unit vector orthogonal to them."""
    if teacher := teacher_of(problem.target):
        drawn = unit_rows(rng, teacher.directions + 1, dimension).astype(float)
        rows = np.linalg.qr(drawn.T)[0].T.astype(np.float32)
        return np.ascontiguousarray(rows[:-1]), rows[-1]
    rows = unit_rows(rng, 2, dimension)
    theta, other = rows
    if isinstance(problem, Protocol) and problem.has_covariance:  # of known size, either sign
        of = problem.with_giant_step(dimension)
        weights = directions_of(of.covariance, of.target_decay)[1]
        theta[:] = np.copysign(np.sqrt(weights), theta)
    other -= (other @ theta) * theta
    other /= np.linalg.norm(other)
    return rows[:1], other


def _scales(protocol: Protocol) -> Single:
    """Return S, of inputs x = S z."""
    return np.sqrt(directions_of(protocol.covariance, 0)[0], dtype=np.float32)


def group_members(fractions: Array, neurons: int) -> NDArray[np.int64]:
    """Return the group of each neuron, as `sizes.group_ends` divides them."""
    return np.searchsorted(group_ends(fractions, neurons), np.arange(neurons), side="right")


def _add_spike(
    problem: SpikedFeatures, weights: Single, directions: Single, other: Single, rng: Generator
) -> FirstLayer:
    """Turn random unit rows into spiked random features (Definition 3.1).

    Parameters
    ----------
    problem : SpikedFeatures
    weights : Single, shape (p, d)
        Overwritten.
    directions : Single, shape (D, d)
        Those of the target.
    other : Single, shape (d,)
        A unit vector orthogonal to them: the spike lies in the span of all.
    rng : Generator
        Draws the further directions of several spikes.
    """
    groups, alignments = problem.groups, problem.alignments
    rho = np.sqrt(max(0.0, 1 - float(alignments @ alignments)))
    spike = alignments @ directions.astype(float) + rho * other
    member = group_members(groups.pi, weights.shape[0])
    weights *= np.sqrt(groups.c)[member, None].astype(np.float32)
    for g, u in enumerate(groups.u):
        weights[member == g] += (u * spike).astype(np.float32)
    if problem.further_spikes:
        known = np.vstack([directions, other, unit_rows(rng, problem.beside.shape[1], other.size)])
        further = np.linalg.qr(known.T.astype(float))[0].T[len(directions) + 1 :]
        weights += (problem.beside[member] @ further).astype(np.float32)
        spike = np.full_like(spike, np.nan)
    bias = groups.b[member].astype(np.float32)
    conditional = groups if problem.model == CONDITIONAL_GAUSSIAN else None
    return FirstLayer(weights, bias, directions, member, spike, groups.u[member], conditional)


def _train(
    problem: Protocol,
    sizes: Sizes,
    weights: Single,
    directions: Single,
    other: Single,
    draw: Callable[[int, int, int], tuple[Single, Single]],
    pool: Workers,
    rng: Generator,
) -> FirstLayer:
    """Take the gradient steps of a protocol from weights at initialisation, which are overwritten.

    Values of a normal readout are drawn, in ascending order.
    """
    values, fractions = np.array(problem.readout).T
    member = group_members(fractions, weights.shape[0])
    letters = values[member]
    if problem.readout == NORMAL:
        letters = np.sort(rng.standard_normal(member.size))
    omega, steps = letters.astype(np.float32), problem.each_step
    rates = [step.learning_rate * sizes.dimension / weights.shape[0] for step in steps]
    mean = np.zeros(weights.shape[1])
    if problem.follows_population:
        mean = _follow_population(problem, rates, weights, omega, directions)
    elif problem.alpha0 != 0:
        counts = [sizes.count(step.alpha0) for step in steps]
        mean, *_ = batch_steps(problem, omega, rates, counts, draw, pool, weights)
    if problem.has_covariance:
        weights *= _scales(problem)
        mean = mean * _scales(problem)
    bias = np.zeros(weights.shape[0], dtype=np.float32)
    spike, strengths = _trained_spike(problem, weights, letters, mean, other)
    return FirstLayer(weights, bias, directions, member, spike, strengths)


def _trained_spike(
    problem: Protocol, weights: Single, letters: Array, mean: Array, other: Single
) -> tuple[Array, Array]:
    """Return v and u of a trained `FirstLayer`, from its first batch's mean of y x if it has one.

    `other` is the direction of v where there is no step: any will do.
    """
    signs = problem.optimizer == SIGN_DESCENT and letters.any()
    if problem.alpha0 != 0 and (signs or not problem.as_in_paper):
        same = np.full(letters.size, 1.0 if len(problem.readout) == 1 else np.nan)
        orientations = np.sign(letters) if problem.as_in_paper else same
        mean = orientations @ weights / (orientations @ orientations)
        norm = float(np.linalg.norm(mean))
        return mean / norm, norm * orientations
    h1 = float(standard_moments(lookup(problem.activation)).slope)
    norm = float(np.linalg.norm(mean))
    # As in `equivalent_features`, v takes the sign of h1, so that r >= 0.
    spike = np.copysign(1, h1) * mean / norm if norm > 0 else other.astype(float)
    return spike, problem.each_step[0].learning_rate / problem.beta * abs(h1) * norm * letters


def _follow_population(
    problem: Protocol, rates: Sequence[float], weights: Single, omega: Single, directions: Single
) -> Array:
    """Take steps along the population's gradient, in place; return E y x."""
    activation, target = lookup(problem.activation), lookup_target(problem.target)
    o, along = omega.astype(float), directions.astype(float)
    for k, (step, rate) in enumerate(zip(problem.each_step, rates, strict=True)):
        w = weights.astype(float)
        initial = k == 0 and isinstance(target, ScalarFunction)
        norms = np.ones(len(w)) if initial else np.linalg.norm(w, axis=1)
        gradient = population_gradient(w, norms, o, activation, target, along)
        take_step(step, weights, rate * gradient, rate)
    linear = standard_moments(target).slope if isinstance(target, ScalarFunction) else target.linear
    return np.atleast_1d(linear) @ along
