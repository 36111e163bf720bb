"""What each stage of the workflow costs: core-seconds, memory and disk, from what the code does.

A simulated network's work is counted in operations of six kinds, and its memory in arrays that are
held at once; both follow `first_layer`, `montecarlo`, `ridge`, `convex_readout` and `measure`. The
seconds that an operation takes were fitted to the processor time of networks of d = 250 to 3000
(narrow and wide layers, every kind of first step, either precision, several ridges) in one thread
of an AMD EPYC; `benchmarks/costs.py` measures and fits them anew, and shows the model beside the
measurement: there it is within 8 % of the time and, from 100 MiB on, within 20 % of the memory.
Losses other than the square take as many steps as they need: theirs are within a factor of two. The
other stages take seconds, and theirs are plain measured figures. What is asked of a scheduler
leaves margins.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from giantstep.numerics.scalar_functions import lookup
from giantstep.pipeline.planning.plan import (
    Curve,
    EigenvaluesTask,
    FigurePlan,
    Plan,
    RecoveryTask,
    ShardTask,
    TheoryTask,
)
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE, ClippedLoss, lookup_loss
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import EXACT, Sizes
from giantstep.problems.spiked_features import CONDITIONAL_GAUSSIAN
from giantstep.simulation.samples import FEWER_ROWS, ROWS

MIB = 2**20
# From this share of the features' mean square on, ridges are fitted in single precision, and what
# they are judged by; both as in `montecarlo`, which is too heavy to import for an estimate.
SINGLE_FROM = 0.01
_QUANTILES = ndtri((np.arange(32) + 0.5) / 32)
# Terms of the power series of a population gradient, steps of refinement: as they usually are.
_SERIES, _REFINEMENTS = 40, 4
# Products with the features that a convex fit takes: of hinge, Huber and logistic loss.
_CORNER_STEPS, _HUBER_STEPS, _SMOOTH_STEPS = 400, 200, 60
# As in `convex_readout`, which is too heavy to import: samples a feature up to which the kernel is
# made.
KERNEL_UP_TO = 2.0


class Work(NamedTuple):
    """Operations of a computation, by how fast they go.

    Attributes
    ----------
    single, double : float
        Floating-point operations of matrix products, in either precision.
    factored : float
        Those of factorisations; in double precision they count twice.
    drawn : float
        Random numbers.
    applied : float
        Values of an activation, or of what takes about as long.
    streamed : float
        Numbers of large matrices that are copied, added, or multiplied with one vector.
    """

    single: float = 0.0
    double: float = 0.0
    factored: float = 0.0
    drawn: float = 0.0
    applied: float = 0.0
    streamed: float = 0.0

    def plus(self, other: Work) -> Work:
        """Add the operations of another computation."""
        return Work(*(a + b for a, b in zip(self, other, strict=True)))


# Seconds an operation.
RATES = Work(8.6e-12, 1.5e-11, 4.6e-12, 1.2e-8, 1.9e-9, 5.2e-10)
# A job's own: starting Python and Snakemake, and what they hold.
START_SECONDS, START_MEMORY = 1.0, 200.0
# A file's own, in MiB: names, meanings and attributes; and the seconds of writing or reading it.
FILE, FILE_SECONDS = 0.03, 0.03
# A point of the theory of one group of neurons; points that a search for the best ridge solves.
POINT_SECONDS, _SEARCH = 2e-4, 20
# The same for a trained bulk, which averages over labels besides; and for setting that up.
TRAINED_POINT_SECONDS, TRAINED_SECONDS, TRAINED_MEMORY = 4e-3, 2.0, 600.0
# A point of another loss than the square loss, of one group.
CONVEX_POINT_SECONDS = 0.5
SPECTRUM_SECONDS = 4.0
DRAWING_SECONDS, DRAWING = 2.0, 0.35
# What merging holds besides the figure's data; how often it, and drawing, hold these; and the
# seconds of merging a MiB.
MERGING_MEMORY, MERGED_COPIES, DRAWN_COPIES, MERGING_SECONDS = 100.0, 3.0, 2.5, 0.05
# Operations of all eigenvalues of a matrix over the cube of its side, at the rate of factorising.
_EIGENVALUES = 8.0
# Values of an activation and its derivative, of a kind with kinks, for each neuron and sample.
_BENT = 6.0
# Numbers that a merged file holds of each curve, of each of its points, and of each simulated one;
# and the values that simulations measure, besides overlaps: errors, the learned function in slabs.
_OF_CURVE, _OF_POINT, _OF_SIMULATED, _MEASURED = 2000, 19, 255, 22
# Seconds that a replicate may take before threads share it, and how many of them may.
LONGEST_REPLICATE, LARGEST_THREADS = 4 * 3600, 8
# Of what is asked of a scheduler: shares, and what a submission needs for itself.
MEMORY_MARGIN, TIME_MARGIN = 1.3, 3.0
SUBMISSION_MEMORY, SUBMISSION_MINUTES = 300, 2


def _seconds(work: Work) -> float:
    return float(np.dot(work, RATES))


@dataclass(frozen=True)
class Cost:
    """What a job takes.

    Attributes
    ----------
    seconds : float
        Of one core.
    memory : float
        At its peak, in MiB.
    disk : float
        That its results fill, in MiB.
    """

    seconds: float
    memory: float = START_MEMORY
    disk: float = FILE


class _Shape(NamedTuple):
    """The sizes of one simulated network and of what is asked of it."""

    d: int
    p: int
    batch: int
    counts: tuple[int, ...]
    trainings: int
    ridges: tuple[float, ...]
    tests: int
    groups: int
    loss: str

    @property
    def readouts(self) -> int:
        """How many readouts are fitted."""
        return self.trainings * len(self.counts) * len(self.ridges)


def _shape(problem: Problem, grid: Grid, sizes: Sizes) -> _Shape:
    stepped = isinstance(problem, Protocol) and math.isfinite(problem.alpha0)
    return _Shape(
        d=sizes.dimension,
        p=sizes.count(problem.beta),
        batch=sizes.count(problem.alpha0) if stepped else 0,  # type: ignore[union-attr]
        counts=tuple(sizes.count(alpha) for alpha in grid.alpha),
        trainings=sizes.trainings,
        ridges=grid.ridge,
        tests=0 if sizes.test_samples == EXACT else int(sizes.test_samples),
        groups=_groups(problem),
        loss=grid.loss,
    )


def _groups(problem: Problem) -> int:
    return len(problem.readout) if isinstance(problem, Protocol) else problem.groups.c.size


def _singles(problem: Problem, ridges: Iterable[float]) -> list[bool]:
    """Tell which ridges single precision serves, from weights as they are before the step."""
    strength = 0.0 if isinstance(problem, Protocol) else problem.groups.u
    variance = 1.0 if isinstance(problem, Protocol) else problem.groups.c
    bias = 0.0 if isinstance(problem, Protocol) else problem.groups.b
    norms = np.sqrt(np.atleast_1d(variance + np.square(strength)))
    inputs = np.atleast_1d(bias)[:, None] + norms[:, None] * _QUANTILES
    power = float(np.mean(lookup(problem.activation).value(inputs) ** 2))
    return [SINGLE_FROM * power <= ridge for ridge in ridges]


@cache
def network_work(problem: Problem, grid: Grid, sizes: Sizes) -> Work:
    """Count the operations of one network replicate, all its training sets and tests."""
    shape = _shape(problem, grid, sizes)
    total = _layer_work(problem, shape)
    singles = _singles(problem, shape.ridges)
    for single in set(singles):
        total = total.plus(_pass_work(problem, shape, singles.count(single), single))
    exact = 4.0 * shape.p**2 * shape.readouts if sizes.test_samples == EXACT else 0.0
    kernel = 20.0 * shape.p**2 if exact else 0.0
    measured = 2.0 * shape.groups * shape.p * shape.d * shape.readouts
    return total.plus(Work(single=measured, double=exact, applied=kernel))


def _layer_work(problem: Problem, shape: _Shape) -> Work:
    """Count what drawing the first layer and its steps takes."""
    weights = float(shape.p * shape.d)
    if isinstance(problem, Protocol) and math.isinf(problem.alpha0):
        # Two products of all pairs of rows, and two power series in their overlaps.
        return Work(double=4 * shape.p * weights, drawn=weights, applied=_SERIES * shape.p**2)
    steps = problem.steps if isinstance(problem, Protocol) and shape.batch else 0
    return Work(
        single=4 * steps * shape.batch * weights,
        drawn=weights + steps * shape.batch * shape.d,
        applied=2 * steps * shape.batch * shape.p,
        streamed=2 * steps * math.ceil(shape.batch / FEWER_ROWS) * weights,
    )


def _pass_work(problem: Problem, shape: _Shape, ridges: int, single: bool) -> Work:
    """Count what features, fits and tests take in one precision."""
    rows = shape.trainings * math.ceil(max(shape.counts) / ROWS) * ROWS
    conditional = not isinstance(problem, Protocol) and problem.model == CONDITIONAL_GAUSSIAN
    samples = float(rows + shape.tests)
    products = 2 * samples * shape.d * shape.p
    tested = 2.0 * shape.tests * shape.p * shape.trainings * len(shape.counts) * ridges
    precise = 1.0 if single else 2.0
    total = Work(
        single=products if single else 0.0,
        double=tested + (0.0 if single else products),
        drawn=samples * (shape.d + (shape.p if conditional else 0)),
        applied=precise * samples * shape.p * (6 if conditional else 1),
    )
    fits = (
        _ridge_fits(shape, ridges, single) if shape.loss == SQUARE else _convex_fits(shape, ridges)
    )
    return total.plus(fits)


def _ridge_fits(shape: _Shape, ridges: int, single: bool) -> Work:
    """Count what the fits of ridge regression take."""
    fits = [_fit_work(count, shape.p, ridges) for count in shape.counts]
    gram = 2 * sum(fit.gram for fit in fits)
    if max(shape.counts) >= shape.p:
        gram += 2 * max(shape.counts) * shape.p**2
    precise = 1.0 if single else 2.0
    return Work(
        single=shape.trainings * gram if single else 0.0,
        double=0.0 if single else shape.trainings * gram,
        factored=precise * shape.trainings * sum(fit.factored for fit in fits),
        streamed=shape.trainings * sum(fit.streamed for fit in fits),
    )


def _convex_fits(shape: _Shape, ridges: int) -> Work:
    """Count what the fits of another loss take, in double precision."""
    loss, total = lookup_loss(shape.loss), Work()
    clipped = isinstance(loss, ClippedLoss)
    steps = _SMOOTH_STEPS
    if isinstance(loss, ClippedLoss):
        steps = _HUBER_STEPS if loss.inverse_curvature else _CORNER_STEPS
    for count in shape.counts:
        by_kernel = clipped and count <= KERNEL_UP_TO * shape.p
        rows = float(count) * shape.p
        streamed = float(count) ** 2 if by_kernel else 2 * rows
        kernel = 2 * rows * count if by_kernel else 0.0
        total = total.plus(Work(double=kernel, streamed=ridges * steps * streamed))
    return Work(*(shape.trainings * operations for operations in total))


class _FitWork(NamedTuple):
    """Operations of the fits at one sample size."""

    gram: float
    factored: float
    streamed: float


def _fit_work(count: int, p: int, ridges: int) -> _FitWork:
    """Count what fitting takes: in the dual as long as samples are fewer than neurons."""
    side = min(count, p)
    # The last block of rows of a primal fit is added to a copy of the sums.
    gram = float(count) ** 2 * p if count < p else ((count - 1) % ROWS + 1) * float(p) ** 2
    solved = ridges * (1 + _REFINEMENTS)
    return _FitWork(gram, ridges * side**3 / 3, side * (side * (4 + solved) + 2 * p))


@cache
def network_memory(problem: Problem, grid: Grid, sizes: Sizes, threads: int = 1) -> float:
    """Count the MiB that one network replicate holds at its peak, beside the process itself."""
    shape = _shape(problem, grid, sizes)
    item = 4 if all(_singles(problem, shape.ridges)) else 8
    weights = shape.p * shape.d
    ahead = threads + 1 if threads > 1 else 1
    if isinstance(problem, Protocol) and math.isinf(problem.alpha0):
        step = 28 * weights + 5 * 8 * FEWER_ROWS * shape.p
    elif shape.batch:
        step = 8 * weights + ahead * FEWER_ROWS * (12 * shape.p + 4 * shape.d)
    else:
        step = 4 * weights
    held_by = _ridge_held if shape.loss == SQUARE else _convex_held
    fits = held_by(shape, item, ahead, threads)
    # Blocks of samples that are drawn, each with its features; and one that is fitted.
    drawn = item * shape.p + (4 if item == 4 else 12) * shape.d
    blocks = ROWS * (ahead * drawn + item * shape.p)
    readouts = 3 * 8 * shape.p * shape.readouts
    held = 4 * weights + (8 * weights if item == 8 else 0)
    return (held + max(step, fits + blocks + readouts)) / MIB


def _ridge_held(shape: _Shape, item: int, ahead: int, threads: int) -> int:
    """Count the bytes that the fits of ridge regression hold."""
    dual = max((n for n in shape.counts if n < shape.p), default=0)
    # Rows that are kept and their copy, the kernel, and its factor.
    fits = item * dual * shape.p + ahead * (item * dual * shape.p + (8 + item) * dual**2)
    if max(shape.counts) >= shape.p:
        # The sums and a product; of each fit a copy of them, a product, and a factor.
        primal = shape.trainings * sum(count >= shape.p for count in shape.counts)
        copies, running = min(ahead, primal), min(threads, primal)
        fits = max(fits, (8 + item + 8 * copies + 2 * item * running) * shape.p**2)
    return fits


def _convex_held(shape: _Shape, item: int, ahead: int, threads: int) -> int:
    """Count the bytes that the fits of another loss hold: all rows, and those of fits at work."""
    kept = math.ceil(max(shape.counts) / ROWS) * ROWS * shape.p
    each = [
        8 * n * shape.p + (8 * n**2 if n <= KERNEL_UP_TO * shape.p else 0) for n in shape.counts
    ]
    return item * kept + min(threads, len(each) * shape.trainings) * max(each)


def shard(task: ShardTask, networks: int | None = None, threads: int = 1) -> Cost:
    """Estimate a shard.

    Parameters
    ----------
    task : ShardTask
    networks : int, optional
        How many of its replicates are still to be simulated; by default all.
    threads : int
    """
    count = len(task.networks) if networks is None else networks
    one = _seconds(network_work(task.problem, task.grid, task.sizes))
    memory = network_memory(task.problem, task.grid, task.sizes, threads)
    raw = len(task.networks) * _raw_disk(task)
    # A replicate's file is written before the shard's, and goes when that is there.
    return Cost(START_SECONDS + count * (one + FILE_SECONDS), START_MEMORY + memory, FILE + raw)


def shard_threads(task: ShardTask) -> int:
    """Give the threads that let one replicate, all that a stopped shard loses, end in time.

    No more than that: memory grows with each.
    """
    seconds = _seconds(network_work(task.problem, task.grid, task.sizes))
    return min(LARGEST_THREADS, math.ceil(seconds / LONGEST_REPLICATE))


def eigenvalues(task: EigenvaluesTask) -> Cost:
    """Estimate the eigenvalues of simulated features."""
    shape = _shape(task.problem, Grid((task.alpha,), (1.0,)), task.sizes)
    count, side = shape.counts[0], min(shape.counts[0], shape.p)
    one = _layer_work(task.problem, shape).plus(
        Work(
            double=2.0 * count * shape.p * (shape.d + side),
            factored=_EIGENVALUES * float(side) ** 3,
            drawn=float(count * shape.d),
            applied=2.0 * count * shape.p,
        )
    )
    rows = 2 * min(count, shape.p + ROWS) * shape.p
    held = 12 * shape.p * shape.d + 8 * (2 * rows + 3 * side**2)
    disk = FILE + 8 * shape.p * len(task.networks) / MIB
    seconds = START_SECONDS + len(task.networks) * _seconds(one)
    return Cost(seconds, START_MEMORY + held / MIB, disk)


def recovery(task: RecoveryTask) -> Cost:
    """Estimate what networks see of a multi-index teacher."""
    d, p, steps = task.dimension, task.problem.width, task.problem.steps
    count, weights = task.problem.batch(d), float(d * p)
    one = Work(
        single=4 * steps * count * weights,
        drawn=weights + steps * count * d,
        applied=_BENT * steps * count * p,
        streamed=2 * steps * math.ceil(count / FEWER_ROWS) * weights,
    )
    held = 24 * weights + FEWER_ROWS * (24 * p + 4 * d)
    seconds = START_SECONDS + len(task.networks) * _seconds(one)
    return Cost(seconds, START_MEMORY + held / MIB, FILE)


def parameters() -> Cost:
    """Estimate the equivalent sRF of a curve."""
    return Cost(START_SECONDS)


def theory(task: TheoryTask, problem: Problem) -> Cost:
    """Estimate the theory of a curve over its grid; `problem` is the curve's."""
    groups = _groups(problem)
    points = len(task.grid.alpha) * (len(task.grid.ridge) + (_SEARCH if task.optimal else 0))
    disk = FILE + points * 8 * (8 + 4 * groups + 2 * groups**2) / MIB
    if task.grid.loss != SQUARE:
        seconds = START_SECONDS + points * groups * CONVEX_POINT_SECONDS
        return Cost(seconds, START_MEMORY + TRAINED_MEMORY, disk)
    if task.bulk == ISOTROPIC:
        return Cost(START_SECONDS + points * groups**2 * POINT_SECONDS, START_MEMORY, disk)
    seconds = START_SECONDS + TRAINED_SECONDS + points * groups**2 * TRAINED_POINT_SECONDS
    return Cost(seconds, START_MEMORY + TRAINED_MEMORY, disk)


def spectrum() -> Cost:
    """Estimate a curve's density of eigenvalues."""
    return Cost(START_SECONDS + SPECTRUM_SECONDS)


def _raw_disk(task: ShardTask) -> float:
    """Count the MiB of what is measured of one network replicate."""
    groups = _groups(task.problem)
    readouts = task.sizes.trainings * len(task.grid.alpha) * len(task.grid.ridge)
    return 8 * readouts * (_MEASURED + 4 * groups + groups**2) / MIB


def _merged_disk(plan: Plan, curve: Curve) -> float:
    """Count the MiB that a curve fills in its figure's file."""
    shards = [plan.montecarlo[key] for key in curve.shards]
    raw = sum(len(task.networks) * _raw_disk(task) for task in shards)
    if curve.eigenvalues:
        raw += eigenvalues(plan.eigenvalues[curve.eigenvalues]).disk
    solved = _points(plan.theory[curve.theory].grid) if curve.theory else 0
    simulated = _points(shards[0].grid) if shards else 0
    held = _OF_CURVE + _OF_POINT * solved + _OF_SIMULATED * simulated
    return raw + 8 * held / MIB


def _points(grid: Grid) -> int:
    return len(grid.alpha) * len(grid.ridge)


def merging(plan: Plan, figure: FigurePlan) -> Cost:
    """Estimate the merging of a figure, all of which is in memory."""
    disk = FILE + sum(_merged_disk(plan, curve) for curve in figure.curves)
    files = sum(len(keys) for curve in figure.curves for keys in curve.files.values())
    seconds = START_SECONDS + files * FILE_SECONDS + disk * MERGING_SECONDS
    return Cost(seconds, START_MEMORY + MERGING_MEMORY + MERGED_COPIES * disk, disk)


def drawing(plan: Plan, figure: FigurePlan) -> Cost:
    """Estimate the drawings of a figure."""
    held = merging(plan, figure).disk
    return Cost(START_SECONDS + DRAWING_SECONDS, START_MEMORY + DRAWN_COPIES * held, DRAWING)


def scores(plan: Plan, figure: FigurePlan) -> Cost:
    """Estimate the table of a figure's scores."""
    held = merging(plan, figure).disk
    return Cost(START_SECONDS, START_MEMORY + DRAWN_COPIES * held, disk=0.0)


class Request(NamedTuple):
    """What a job asks of a scheduler: memory in MiB, and minutes."""

    memory: int
    minutes: int


def request(cost: Cost, threads: int = 1, attempt: int = 1) -> Request:
    """Add margins to an estimate: for slower machines, for the model, and more with each attempt.

    Parameters
    ----------
    cost : Cost
    threads : int
    attempt : int
        From 1.
    """
    memory = MEMORY_MARGIN * cost.memory + SUBMISSION_MEMORY
    minutes = SUBMISSION_MINUTES + TIME_MARGIN * cost.seconds / threads / 60
    return Request(math.ceil(memory * attempt), math.ceil(minutes * attempt))
