"""The preactivations on samples that several steps reuse: docs/theory/reused-batch.md.

On a sample of the batch a neuron meets its own earlier gradients again, and so does the mean row.
The preactivations after each step are therefore fields with a memory: `SampleFields` follows them,
on a rule over samples and a cloud of neurons.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from giantstep.arrays import Array, Indices
from giantstep.numerics.activation_averages import activation_averages
from giantstep.numerics.function_table import ScalarFunction
from giantstep.numerics.interpolation import interpolated, tabulated
from giantstep.numerics.linear_systems import triangular_root
from giantstep.numerics.quadrature import (
    WIDE,
    product_rule,
    quasi_random,
    split_rule,
    unit_edges,
)
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.problem import noise_levels
from giantstep.problems.protocol import Protocol
from giantstep.theory.features.conditional_target import target_rule
from giantstep.theory.first_layer.network_state import NetworkState, features_in_state

# Nodes over each Gaussian coordinate of a sample, by the number of coordinates. More than two
# coordinates have quasi-random points instead: so many at each node over the target's direction, or
# fewer for several directions. Neurons have so many quasi-random points after the first step.
_NODES, _POINTS, _FEWER, _NEURONS = (0, 32, 12), 96, 24, 1024
# No product rule over samples is larger.
_MOST_SAMPLES = 20_000
# Width of panels over neurons whose kink the step moves.
_NARROW = 0.5
# The rule over no coordinates.
_NONE = np.zeros((1, 0)), np.ones(1)
# Nodes over each of a teacher's directions, by their number.
_TEACHER_NODES = {1: 30, 2: 14, 3: 8}
# Nodes with less weight are left out.
_NEGLIGIBLE = 1e-12
# A table of an averaged activation has so many entries to the width of the average, which counts as
# at least this; and the scale of its interpolation, over that width.
_TABLE, _LEAST_WIDTH, _SCALE = 1200, 0.02, 8
# Samples times neurons of a block whose arrays stay in the processor's cache.
_CACHED = 40_000
# A direction with a smaller share of the total variance is rounding.
_ROUNDING = 1e-12


class GaussianPart:
    """A Gaussian part of the rows, step after step: the mean row, or a neuron's own part.

    Parameters
    ----------
    initial : Array, shape (F + K,)
        Before the K steps.
    first : int
        F, the number of directions before the first step.

    Attributes
    ----------
    after : list of Array, shape (F + K,)
        After 0, 1, ... steps, along these directions and a new one in each step.
    memory : Array, shape (K + 1, K)
        Its response to a unit drive in each step, before the first step and after each.
    noise : Array, shape (K, K)
        Covariance of the drives.
    """

    def __init__(self, initial: Array, first: int) -> None:
        steps = initial.size - first
        self.first, self.after = first, [initial]
        self.memory, self.noise = np.zeros((steps + 1, steps)), np.zeros((steps, steps))

    def take(self, rate: float, drive: Array, noise: Array) -> None:
        """Take step t.

        Parameters
        ----------
        rate : float
        drive : Array, shape (F + t,)
            Average over samples of their action on it, times its directions.
        noise : Array, shape (t + 1,)
            Covariances of that action with the actions in steps 0 ... t.
        """
        F, t = self.first, noise.size - 1
        self.noise[t, : t + 1] = self.noise[: t + 1, t] = noise
        # Responses by Stein's lemma; directions that no step has moved have none.
        rows = np.vstack([np.eye(F, self.after[0].size), *self.after[1:]])[:, : F + t]
        response = np.linalg.pinv(rows.T, rcond=_ROUNDING) @ drive
        unit = np.eye(len(self.noise))[t]
        change = unit + response[F:] @ self.memory[1 : t + 1]
        self.memory[t + 1] = self.memory[t] + rate * change
        driven, row = self.memory[1 : t + 2, : t + 1], np.zeros_like(self.after[0])
        row[:F] = self.after[t][:F] + rate * drive[:F]
        row[F : F + t + 1] = triangular_root(driven @ self.noise[: t + 1, : t + 1] @ driven.T)[t]
        self.after.append(row)


class SampleFields:
    """The fields on samples of the batch, step after step.

    Parameters
    ----------
    protocol : Protocol
    steps : int
        The number of steps before the last one whose fields are needed.
    fineness : int
        Multiplies the number of nodes.

    Attributes
    ----------
    weight : Array, shape (N,)
    white : Array, shape (N, D + steps)
        Projections on the target's directions and on the mean row's, in white coordinates.
    taken : int
        The number of steps whose fields are known.
    pulls : Array, shape (N, steps + 1)
        The action of each sample on the mean row.
    projections : Array, shape (N, steps + 1, steps + 1)
        Averages over neurons of a sample's action on a neuron, times its white coordinates.
    products : Array, shape (N, steps + 1, steps + 1)
        Averages over neurons of the products of its actions in two steps.
    """

    def __init__(self, protocol: Protocol, steps: int, fineness: int) -> None:
        self.alpha0, self.steps = protocol.alpha0, steps
        ((self.omega, _),) = protocol.readout
        self.activation = lookup(protocol.activation)
        self.white, self.labels, self.weight = _samples(protocol, steps, fineness)
        self.neurons, self.share = _neurons(self.activation, steps, fineness)
        shape = self.weight.size, steps + 1, steps + 1
        self.taken, self.pulls = 0, np.zeros(shape[:2])
        self.projections, self.products = np.zeros(shape), np.zeros(shape)
        self._own_pulls = np.empty((steps, self.weight.size, self.share.size))

    def take(self, common: GaussianPart, own: GaussianPart) -> None:
        """Add the fields after one more step.

        The newest noise of a neuron enters linearly, and is averaged over in advance.
        """
        t, z, std = self.taken, self.neurons, own.after[self.taken][self.taken]
        mean_field = self.white @ common.after[t][: self.white.shape[1]]
        mean_field += self.pulls[:, :t] @ common.memory[t, :t] / self.alpha0
        shift = np.tensordot(own.memory[t, :t] / self.alpha0, self._own_pulls[:t], axes=1)
        shift += mean_field[:, None] + z[:, :t] @ own.after[t][:t]
        averages = _smoothed(self.activation, shift.min(), shift.max(), std)
        blocks = np.array_split(np.arange(len(shift)), math.ceil(shift.size / _CACHED))
        for block in blocks:
            self._act(block, shift[block], averages(shift[block]), std)
        self.taken = t + 1

    def _act(self, block: Indices, shift: Array, averages: list[Array], std: float) -> None:
        """Compute the action of some samples on the mean row, and averages of that on neurons."""
        z, share, t = self.neurons, self.share, self.taken
        mean, slope, variance, curvature = averages
        residual = self.labels[block] - self.omega * (mean @ share)
        self.pulls[block, t] = pull = residual * (slope @ share)
        own_pull = residual[:, None] * slope - pull[:, None]
        drive = own_pull * share
        pulls = *self._own_pulls[:t, block], own_pull
        products = np.stack([np.einsum("nz,nz->n", drive, other) for other in pulls], axis=1)
        products[:, t] += residual**2 * (variance @ share)
        self.products[block, t, : t + 1] = self.products[block, : t + 1, t] = products
        newest = residual * std * (curvature @ share)
        self.projections[block, t, : t + 1] = np.column_stack([drive @ z[:, :t], newest])
        if t < self.steps:
            slope = self.activation.derivative(shift + std * z[:, t])
            self._own_pulls[t, block] = residual[:, None] * slope - pull[:, None]


def _smoothed(
    activation: ScalarFunction, low: float, high: float, std: float
) -> Callable[[Array], list[Array]]:
    """Average an activation over Gaussian noise, by a table over shifts in some range.

    Returns a function from shifts to E sigma, E sigma', Var sigma' and E sigma''.
    """

    def averages(points: Array) -> tuple[Array, ...]:
        return activation_averages(activation, points, std).of_letters

    width = min(max(std, _LEAST_WIDTH), 1.0)
    count = 4 + math.ceil((high - low) / width * _TABLE)
    table, step = np.linspace(low, high + width / _TABLE, count, retstep=True)
    mean, slope, *_, variance = interpolated(averages, table, _SCALE * width)
    # The slope's derivative, since a kink may be narrower than the table.
    values = mean, slope, variance, np.gradient(slope, step, edge_order=2)
    return tabulated(np.stack(values), low, step)


def _samples(protocol: Protocol, steps: int, fineness: int) -> tuple[Array, Array, Array]:
    """Choose a rule over samples: white coordinates (N, D + steps), labels and weights (N,)."""
    rule = (1 + fineness) / 2
    initial = features_in_state(protocol, NetworkState.at_initialisation(protocol.target))
    D = initial.alignments.size
    finer, least = rule / min(max(steps, 1), 2), round(rule * _TEACHER_NODES[D])
    labels, u, weights = target_rule(initial, np.zeros(1), finer, WIDE, least)
    kept = weights[0] > _NEGLIGIBLE
    variance, fraction = np.repeat(np.array(noise_levels(protocol)).T, kept.sum(), axis=1)
    levels = variance.size // kept.sum()
    of_target = u[:, 0].T, labels[0], weights[0]
    s, clean, weight = (np.concatenate([x[kept]] * levels) for x in of_target)
    dim = steps + bool(variance.any())
    if dim > 2 or kept.sum() * _NODES[dim] ** dim > _MOST_SAMPLES:
        # For several directions all nodes share the points, which keeps their symmetries.
        blocks, n = (1, _FEWER) if D > 1 else (len(s), _POINTS)
        cloud = np.tile(quasi_random(dim, blocks, round(n * rule)), (len(s) // blocks, 1, 1))
        share = np.full(cloud.shape[1], 1 / cloud.shape[1])
    else:
        nodes, share = product_rule(dim, round(_NODES[dim] * rule)) if dim else _NONE
        cloud = np.tile(nodes, (len(s), 1, 1))
    labels = clean[:, None] + np.sqrt(variance)[:, None] * cloud[:, :, steps:].sum(axis=2)
    along = np.repeat(s[:, None], cloud.shape[1], axis=1)
    white = np.concatenate([along, cloud[:, :, :steps]], axis=2)
    weights = np.outer(fraction * weight, share).ravel()
    kept = weights > _NEGLIGIBLE
    white = white.reshape(-1, white.shape[2])[kept]
    return white, labels.ravel()[kept], weights[kept] / weights[kept].sum()


def _neurons(activation: ScalarFunction, steps: int, fineness: int) -> tuple[Array, Array]:
    """Choose a rule over the first white coordinates of neurons, shapes (Z, steps) and (Z,)."""
    rule = (1 + fineness) / 2
    if steps > 1:
        z = quasi_random(steps, 1, round(_NEURONS * rule))[0]
        return z, np.full(len(z), 1 / len(z))
    # The step moves the kinks of some neurons off the edges of panels.
    width = _NARROW if activation.kinks else WIDE
    z, weight = split_rule(unit_edges(np.array(activation.kinks), width), rule)
    kept = weight > _NEGLIGIBLE
    return z[kept, None], weight[kept] / weight[kept].sum()
