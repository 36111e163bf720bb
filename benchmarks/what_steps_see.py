"""How much of targets of several directions a few gradient steps see: the shares of figure S9.

A network `f(x) = sum_i omega_i sigma(w_i.x)/p` starts with rows on the unit sphere. They come in
pairs of equal rows with omega = 1 and -1, so that the network is zero at first. It takes steps on
fresh batches of `n0 = alpha0 d^exponent` samples of a noiseless target of orthonormal directions
(docs/what-one-step-sees.md). Measured are the shares of the squared norms of its rows, and of their
change, along each direction, beside their theory. Ten minutes of one core:

    OMP_NUM_THREADS=1 nice python benchmarks/what_steps_see.py > config/figures/figs9-shares.csv
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.random import SeedSequence

from giantstep import Protocol
from giantstep.arrays import Array, Single
from giantstep.numerics.gaussian import expectation, mean_derivatives
from giantstep.numerics.quadrature import product_rule
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.canonical import digest
from giantstep.problems.teachers import Teacher, lookup_teacher
from giantstep.simulation.gradient_steps import batch_steps
from giantstep.simulation.samples import FIRST_BATCH, WEIGHTS, stream, unit_rows
from giantstep.simulation.threads import workers
from giantstep.theory.first_layer.letters_step import averages_of_letters
from giantstep.theory.first_layer.step import LettersState, Step

SEED = 240204980
READOUT = ((1.0, 0.5), (-1.0, 0.5))
# Quadrature nodes for each direction, over the overlaps of a row at initialisation.
INITIAL_NODES = 64
# Of derivatives of the activation: two more than any target's.
DEGREE = 32
# Gauss-Hermite nodes in each of the two dimensions that the spikes span.
PLANE_NODES = 40
# Of averages of the activation, which are interpolated.
FINENESS = 0.2
# Largest share of a row that its bulk may have along a direction: each row then takes a way of its
# own, which the mean over rows does not describe.
LARGEST_OF_BULK = 0.05


@dataclass(frozen=True)
class Recovery:
    """A network and its steps. Random numbers follow from the names of class and fields.

    Attributes
    ----------
    activation, teacher : str
    learning_rate : float
        A row changes by `learning_rate d^((exponent - 1)/2)` times the mean of
        `omega (y - f(x)) sigma'(w.x) x` over the batch, which keeps the change of order one.
    alpha0, exponent : float
    width : int
        p, even.
    steps : int
    reuse_batch : bool
    """

    activation: str
    teacher: str
    learning_rate: float = 1.0
    alpha0: float = 8.0
    exponent: float = 1.0
    width: int = 128
    steps: int = 1
    reuse_batch: bool = False

    @property
    def target(self) -> Teacher:
        """The teacher itself."""
        return lookup_teacher(self.teacher)

    def batch(self, dimension: int) -> int:
        """Return n0."""
        return round(self.alpha0 * math.pow(dimension, self.exponent))

    def rate(self, dimension: int) -> float:
        """Return the factor that multiplies a row's gradient."""
        return self.learning_rate * math.pow(dimension, (self.exponent - 1) / 2)


class Shares(NamedTuple):
    """Shares of squared norms along each direction of the target, averaged over rows.

    Attributes
    ----------
    rows, changes : Array, shape (..., directions)
        Of the rows, and of their change since initialisation.
    """

    rows: Array
    changes: Array


def simulate(problem: Recovery, dimension: int, network: int, seed: int = SEED) -> Shares:
    """Train a first layer, and measure it after 0, 1, ... steps, shape (steps + 1, directions)."""
    key = int(digest({"type": "Recovery"} | vars(problem))[:16], 16), dimension
    of_problem, teacher = SeedSequence(seed, spawn_key=key), problem.target
    rng = stream(of_problem, network, WEIGHTS)
    directions = np.linalg.qr(rng.standard_normal((dimension, teacher.directions)))[0]
    initial = np.tile(unit_rows(rng, problem.width // 2, dimension), (2, 1))
    omega = np.repeat(np.array([1, -1], dtype=np.float32), problem.width // 2)

    def draw(batch: int, block: int, rows: int) -> tuple[Single, Single]:
        block_rng = stream(of_problem, network, FIRST_BATCH, batch, block)
        inputs = block_rng.standard_normal((rows, dimension), np.float32)
        labels = teacher.value(inputs @ directions.astype(np.float32))
        return inputs, labels.astype(np.float32)

    protocol = Protocol(
        problem.activation,
        problem.teacher,
        problem.learning_rate,
        problem.alpha0,
        beta=problem.width / dimension,
        steps=problem.steps,
        reuse_batch=problem.reuse_batch,
    )
    weights, rows, changes = initial.copy(), [along(initial, directions)], [np.nan]
    with workers(1) as pool:
        rate, samples = problem.rate(dimension), problem.batch(dimension)
        rates, counts = [rate] * problem.steps, [samples] * problem.steps
        for _ in batch_steps(protocol, omega, rates, counts, draw, pool, weights):
            rows.append(along(weights, directions))
            changes.append(along(weights - initial, directions))
    return Shares(np.stack(rows), np.stack(np.broadcast_arrays(*changes)))


def along(rows: Single, directions: Array) -> Array:
    """Average over rows the share of their squared norm along each direction; of zero it is 0."""
    precise = rows.astype(float)
    norms = np.sum(precise**2, axis=1, keepdims=True)
    shares = (precise @ directions) ** 2 / np.where(norms > 0, norms, 1)
    return np.asarray(shares.mean(axis=0))


def after_one_step(problem: Recovery, dimension: int) -> Shares:
    """Compute the expected shares after one step, averaged over the initialisation.

    By Stein's lemma and Mehler's formula the mean of a row's gradient is a polynomial in its
    overlaps with the directions, which are independent N(0, 1/d) for large d; its covariance is
    `E y^2 sigma'^2 x x^T/n0`. The relative error is of order 1/d.
    """
    xi, weights = product_rule(problem.target.directions, INITIAL_NODES)
    m = xi / math.sqrt(dimension)
    signal, along_row, square, spread = _gradient(problem, m, dimension)
    change = (signal**2 + spread) / square[:, None]
    rate, rows = problem.rate(dimension), np.zeros_like(change)
    for step in (rate, -rate):
        share = (m + step * signal) ** 2 + step**2 * spread
        norm = 1 + 2 * step * along_row + step**2 * square
        rows += share / norm[:, None] / 2
    return Shares(weights @ rows, weights @ change)


def _gradient(problem: Recovery, m: Array, dimension: int) -> tuple[Array, Array, Array, Array]:
    """Compute mean and variance of a row's gradient, at N values of its overlaps with r directions.

    Returns
    -------
    signal : Array, shape (N, r)
        The mean along the directions.
    along_row : Array, shape (N,)
        The mean along the row.
    square : Array, shape (N,)
        The mean of the squared norm.
    spread : Array, shape (r,)
        The variance along each direction.
    """
    activation, teacher = lookup(problem.activation), problem.target
    gradient, own = teacher.mean_gradient(mean_derivatives(activation, DEGREE), m)
    signal = gradient + own[:, None] * m
    square = np.sum(signal**2, axis=1) + own**2 * np.maximum(1 - np.sum(m**2, axis=1), 0)
    second, with_directions = teacher.second_moments()
    slope = expectation(activation, lambda t: activation.derivative(t) ** 2)
    with_row = expectation(activation, lambda t: (t * activation.derivative(t)) ** 2)
    across = (dimension - teacher.directions - 1) * second * slope
    count = problem.batch(dimension)
    spread = with_directions * slope / count
    variance = spread.sum() + (across + second * with_row) / count
    return signal, np.sum(gradient * m, axis=1) + own, square + variance, spread


def after_steps(problem: Recovery, dimension: int) -> Array:
    """Compute the mean shares of rows after each step on batches of order d, (steps, directions).

    Rows with readout +1 and -1 have a spike each, which steps turn and lengthen. The width is taken
    as large: the network's output is half the difference of the two mean activations. NaN where the
    bulk has more than a twentieth of a row along a direction.
    """
    state = LettersState.at_initialisation(len(READOUT), problem.target.directions)
    shares = []
    for _ in range(problem.steps):
        state = _next_state(problem, state)
        shares.append(_shares(state, problem.target.directions, dimension))
    return np.array(shares)


def _next_state(problem: Recovery, state: LettersState) -> LettersState:
    """Compute the state after a step.

    Across the plane of the spikes all is polynomial, and few nodes are exact.
    """
    teacher, targets = problem.target, problem.target.directions
    plane, of_plane = product_rule(2, PLANE_NODES)
    rest, of_rest = product_rule(targets, teacher.degree + 2)
    nodes = np.hstack([np.repeat(plane, len(rest), axis=0), np.tile(rest, (len(plane), 1))])
    # The first of these directions span the spikes.
    x = (nodes[:, : state.spikes.shape[1]] @ np.linalg.svd(state.spikes)[2]).T
    averages = averages_of_letters(lookup(problem.activation), state, x, FINENESS)
    residual = teacher.value(x[:targets].T) - np.prod(READOUT, axis=1) @ averages[0]
    of_nodes = residual, np.ones_like(residual), np.outer(of_plane, of_rest).ravel()
    rates = problem.learning_rate, problem.alpha0, 1.0
    protocol = Protocol(problem.activation, "linear", *rates, readout=READOUT)
    return Step(protocol, state, averages, *of_nodes, x, targets).take()


def _shares(state: LettersState, directions: int, dimension: int) -> Array:
    spikes, rows = state.spikes[:, :directions], np.diagonal(state.covariance, axis1=1, axis2=2)
    norm = (state.bulk_variance + np.diagonal(state.gram))[:, None]
    of_bulk = rows[:, :directions] / dimension / norm
    shares = np.mean(spikes**2 / norm + of_bulk, axis=0)
    return np.where(of_bulk.max() <= LARGEST_OF_BULK, shares, np.nan)


TEACHERS = ("z1", "he2(z1)", "z1*z2", "he3(z1)", "z1*z2*z3")
SQUARED = Recovery("tanh", "he2(z1)", exponent=2.0)
STAIRS = Recovery("elu", "z1*z2", learning_rate=3.0, alpha0=64.0, steps=6)


def points() -> Iterator[tuple[str, Recovery, int, int]]:
    """Yield the panel, the problem, the dimension and the number of networks of each point."""
    sizes = {1.0: (64, 128, 256, 512, 1024), 2.0: (32, 64, 128, 256)}
    orders = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
    for teacher in TEACHERS:
        for exponent, networks in (1.0, 32), (2.0, 8):
            problem = Recovery("elu", teacher, exponent=exponent)
            for dimension in sizes[exponent]:
                yield f"dimension, {exponent:g}", problem, dimension, networks
        for exponent in orders:
            yield "order", Recovery("elu", teacher, exponent=exponent), 48, 8
    for dimension in (32, 64, 128):
        yield "dimension, 2", SQUARED, dimension, 32
    for teacher in ("z1+z1*z2+z1*z2*z3", "z1*z2"):
        for dimension in (100, 400):
            yield "staircase", replace(STAIRS, teacher=teacher), dimension, 8


def rows_of(problem: Recovery, dimension: int, networks: int) -> Iterator[tuple[object, ...]]:
    """Measure a point: after several steps rows along each direction, else their whole change."""
    measured = [simulate(problem, dimension, network) for network in range(networks)]
    one = after_one_step(problem, dimension)
    if problem.steps == 1:
        changes = np.array([of.changes[1].sum() for of in measured])
        yield 1, "all", *_numbers(one.changes.sum(), changes)
        return
    later = after_steps(problem, dimension)[1:]
    expected = np.stack([np.full_like(one.rows, 1 / dimension), one.rows, *later])
    for (step, direction), theory in np.ndenumerate(expected):
        shares = np.array([of.rows[step, direction] for of in measured])
        yield step, direction + 1, *_numbers(theory, shares)


def _numbers(theory: float, measured: Array) -> tuple[str, ...]:
    error = measured.std(ddof=1) / math.sqrt(measured.size)
    return tuple(f"{x:.6g}" for x in (theory, measured.mean(), error))


def main() -> None:
    """Measure and print."""
    rows = csv.writer(sys.stdout, lineterminator="\n")
    names = "panel", "activation", "teacher", "exponent", "dimension", "step", "direction"
    rows.writerow((*names, "theory", "mean", "error"))
    for panel, problem, dimension, networks in points():
        of_point = panel, problem.activation, problem.teacher, problem.exponent, dimension
        for numbers in rows_of(problem, dimension, networks):
            rows.writerow((*of_point, *numbers))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
