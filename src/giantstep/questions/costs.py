"""What a task takes: seconds of one core, and memory.

Networks are counted in operations of matrix products; their rate gives seconds, within a factor of
two for d from 250 to 3000, and of five for small networks with many samples. Memory is that of the
arrays that are held at once, an upper bound within a factor of two. The theory has measured seconds
for each point. `benchmarks/costs.py` shows the estimates of networks beside measurements.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.scalar_functions import BINARY
from giantstep.problems.bulk_kind import ISOTROPIC, bulk_of_networks
from giantstep.problems.convex_losses import ClippedLoss
from giantstep.problems.covariance import IDENTITY
from giantstep.problems.inputs import GAUSSIAN
from giantstep.problems.losses import KNOWN_LOSSES, SQUARE, is_square, lookup_loss
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.questions.choices import LIMIT
from giantstep.questions.declaration import Work, stated
from giantstep.questions.task import Task
from giantstep.questions.values import as_lists, is_several
from giantstep.simulation.arithmetic import FEWER_ROWS, ROWS, SINGLE_FROM
from giantstep.validation import RefusalError, raise_all

MIB = 2**20
# Core-hours that an answer may take, of theory alone and of networks, unless more are allowed.
THEORY_HOURS, SIMULATION_HOURS = 0.05, 1.0
# Fits in the time of one and of its cross-validation.
_CROSS_VALIDATED = 8
# Of arguments that a task leaves out.
_DEFAULTS: dict[str, Any] = {"alpha": 1.0, "ridge": 0.1, "loss": SQUARE, "bulk": None}
_DEFAULTS |= {"networks": 8, "trainings": 1, "test_samples": 10_000}
# Seconds of an operation of a matrix product in single precision, and of a random number.
_OPERATION, _DRAW = 8.6e-12, 1.5e-8
# Operations in the time of one value of an activation, one sample besides, one fit of a readout,
# one pair of neurons in a closed form and in a series, and one entry of a matrix that a step of a
# fit reads.
_ACTIVATION, _SAMPLE, _FIT, _PAIR, _SERIES, _ENTRY = 300.0, 2e4, 2e7, 1.5e4, 1.5e4, 60.0
# Steps of the fits of other losses; of those with a corner, with one sample for each feature and an
# easy ridge.
_STEPS, _CORNER_STEPS, _EASY_RIDGE = 30.0, 100.0, 0.1
# Seconds of the theory of a problem, and of each gradient step that is followed, of a trained bulk
# and else; and of each point: of the square loss, of the 0-1 error, of smooth losses and those with
# corners.
_PROBLEM, _TRAINED, _STEP = 5e-3, 0.15, 0.02
_POINT, _ZERO_ONE, _SMOOTH_POINT, _CORNER_POINT = 1.2e-4, 3e-4, 0.03, 0.1
# Ridges in the time of a decomposition, which serves all times of gradient flow.
_DECOMPOSED = 40
# How much longer each further direction of the spikes takes, and more memory.
_SPIKE, _SPIKE_MEMORY = 30, 2
# Points that the search for the best ridge takes, of the square loss and others; and candidates of
# a search for other optima, by their number.
_SEARCH, _CONVEX_SEARCH, _CANDIDATES = 80, 40, (1, 80, 340, 700, 1300)
# Points of errors in the time of a spectrum.
_SPECTRUM = 2000
# MiB of a theory, and of each point.
_THEORY_MEMORY, _POINT_MEMORY = 300.0, 0.015
# Seconds of N groups of neurons in units of N^3, and MiB in units of N^2: of pairs of functions, on
# more nodes if their spikes are as different as 1, 2, ..., N.
_GROUPS, _GROUPS_MEMORY = 1.1e-3, 5.0
# Seconds of a covariance; gentle spectra take a tenth of the time.
_COVARIANCE = 0.2
# Seconds of a predicted error of given samples, of each value of a feature and each of its products
# with others; and arrays of features that are held.
_SUBSET_VALUE, _SUBSET_PRODUCT, _SUBSET_ARRAYS = 4e-7, 1.7e-9, 5
# How much longer the theory takes with these.
_LONGER = {"derivatives": 3, "cross_validation": 2, "gains": 3}
# Parameters of a sweep that are solved together, or cost differently.
_COUNTED = ("alpha", "ridge", "gains", "over", "zip", "x", "s")


class Cost(NamedTuple):
    """What is taken: seconds of one core, and MiB at the peak, beside what a process takes."""

    seconds: float
    memory: float


def total_cost(costs: Collection[Cost]) -> Cost:
    """Sum the seconds of tasks that follow one another; the memory is that of the largest."""
    memory = max((cost.memory for cost in costs), default=0.0)
    return Cost(sum(cost.seconds for cost in costs), memory)


class CostError(RefusalError):
    """A question whose answer would take more time or memory than is allowed."""


def check_cost(cost: Cost, max_hours: float, max_memory: float | None = None) -> None:
    """Refuse what takes more core-hours or GiB of memory than is allowed.

    Parameters
    ----------
    cost : Cost
    max_hours : float
    max_memory : float, optional
        By default what this machine has.

    Raises
    ------
    InvalidParametersError, CostError
    """
    faults = LIMIT.read("max_hours", max_hours)[1]
    raise_all(faults + ([] if max_memory is None else LIMIT.read("max_memory", max_memory)[1]))
    hours, gib = cost.seconds / 3600, cost.memory / 1024
    whose, most = "max_memory is", max_memory
    if most is None:
        most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
        whose = "this machine has"
    if gib > most:
        raise CostError(
            f"this needs about {gib:,.3g} GiB of memory, and {whose} {most:,.3g}: it must be"
            f" smaller, or allowed with max_memory={math.ceil(gib)}"
        )
    if hours > max_hours:
        raise CostError(
            f"this takes about {hours:,.3g} core-hours, more than {max_hours:g}: it must be"
            f" smaller, or allowed with max_hours={1.1 * hours:.2g}"
        )


def cost_of(task: Task, threads: int = 1) -> Cost:
    """Estimate what a task takes.

    Parameters
    ----------
    task : Task
        A valid one.
    threads : int
        More hold more memory, and take as many seconds of one core together.

    Examples
    --------
    >>> import giantstep
    >>> problem = giantstep.Protocol("tanh", "sin", learning_rate=3, alpha0=1, beta=1)
    >>> arguments = {"alpha": 1, "ridge": 0.1, "dimension": 1000, "networks": range(10)}
    >>> ten, one = (
    ...     cost_of(Task("replicates", problem, arguments | {"networks": range(n)}))
    ...     for n in (10, 1)
    ... )
    >>> round(ten.seconds / one.seconds), ten.memory == one.memory
    (10, True)
    """
    work, given = stated(task.question).work, _DEFAULTS | dict(task.arguments)
    theory = _theory(work, task.problem, task.arguments)
    if not work.networks:
        return theory
    networks = given["networks"]  # a number, or their indices, of which there may be billions
    count = networks if isinstance(networks, int) else len(networks)
    longer = _CROSS_VALIDATED if given.get("cross_validation") else work.networks
    members = given.get("ensemble") or 0
    longer += members
    one = _network(task.problem, given, threads)
    memory = one.memory * max(1 + (longer > 1), members) + theory.memory
    return Cost(count * longer * one.seconds + theory.seconds, memory)


def check_theory(work: Work, given: Mapping[str, Any]) -> None:
    """Refuse a question whose theory takes more than is allowed, whatever else is wrong with it.

    Raises
    ------
    CostError
    """
    cost = _theory(work, given["problem"], {**given, **given.get("values", {})})
    check_cost(cost, given["max_hours"], given["max_memory"])


def _theory(work: Work, problem: Problem, arguments: Mapping[str, Any]) -> Cost:
    """Estimate the theory of all points of a question, for one problem or those of a sweep.

    Of several losses or bulks each is taken to cost as much as the costliest.
    """
    if not work.theories:
        return Cost(0, 0)
    together = _several(arguments.get("zip", ()))[1:]  # one value of these goes with one of another
    of = {name: as_lists(x) for name, x in arguments.items() if name not in together}
    of = _DEFAULTS | of
    several = {k: x for k, x in of.items() if k not in _COUNTED and is_several(k, x)}
    searched = {*_several(of.get("over", ())), *(k for k in work.searched if of.get(k) is None)}
    cases = math.prod(map(len, several.values()))
    cases *= _CANDIDATES[min(len(searched - {"ridge"}), len(_CANDIDATES) - 1)]
    cases *= math.prod(factor for name, factor in _LONGER.items() if of.get(name))
    losses, ridges = _several(of["loss"]), len(_several(of["ridge"]))
    if "ridge" in searched or isinstance(of["ridge"], str):
        ridges = _SEARCH if losses == [SQUARE] else _CONVEX_SEARCH
    points = len(_several(of["alpha"])) * ridges
    points *= _SPECTRUM if work.density else 1
    groups = max(len(problem.shares), *map(len, several.get("readout", [of.get("readout", ())])))
    point = _POINT + _ZERO_ONE * (problem.target in BINARY)
    if losses != [SQUARE]:
        point = _CORNER_POINT if any(map(_has_corner, losses)) else _SMOOTH_POINT
    longer = _SPIKE**problem.further_directions
    seconds = (_PROBLEM + _GROUPS * groups**3 + points * point) * longer
    bulks = [work.bulk or bulk or bulk_of_networks(problem) for bulk in _several(of["bulk"])]
    steps = problem.steps if isinstance(problem, Protocol) and not problem.as_in_paper else 0
    seconds += steps * (_STEP if {ISOTROPIC} == {*map(str, bulks)} else _TRAINED)
    seconds += _COVARIANCE * (problem.has_covariance or of.get("covariance", IDENTITY) != IDENTITY)
    memory = _THEORY_MEMORY * _SPIKE_MEMORY**problem.further_directions
    memory += _GROUPS_MEMORY * groups**2 + _POINT_MEMORY * cases * points
    return Cost(work.theories * cases * seconds, memory)


def _several(value: Any) -> list[Any]:
    return [*value] if isinstance(value, list | tuple | Mapping) else [value]


def _has_corner(loss: str) -> bool:
    kind = None if KNOWN_LOSSES.faults("loss", loss) else lookup_loss(loss)  # refused later
    return isinstance(kind, ClippedLoss) and kind.inverse_curvature == 0


def _network(problem: Problem, given: Mapping[str, Any], threads: int) -> Cost:
    """Estimate one network: its first layer, the features of all samples, fits and tests."""
    d, sampled = int(given["dimension"]), not is_square(given["loss"])
    sampled |= problem.target in BINARY or problem.inputs != GAUSSIAN
    of_each = isinstance(given["ridge"], str)  # a ridge for each alpha, still to be found
    ridges = np.ones(np.size(given["alpha"])) if of_each else np.atleast_1d(given["ridge"])
    p = math.ceil(problem.beta * d)
    ahead = threads + 1 if threads > 1 else 1
    counts = np.maximum(1, np.round(np.atleast_1d(given["alpha"]) * d))
    trainings, tests = given["trainings"], given["test_samples"] * sampled
    readouts = trainings * counts.size * ridges.size
    item = 4 if np.min(ridges) >= SINGLE_FROM else 8  # bytes of a number, if features are about 1
    samples = trainings * math.ceil(counts.max() / ROWS) * ROWS + tests
    operations, drawn, step = _first_layer(problem, d, p, ahead)
    operations += item / 4 * samples * p * (2.0 * d + _ACTIVATION) + _SAMPLE * samples
    operations += (4.0 * tests * p + _FIT) * readouts
    operations += (4.0 * readouts + _SERIES) * p**2 if is_square(given["loss"]) else 0.0
    if is_square(given["loss"]):
        solved = ridges.size if given["loss"] == SQUARE else _DECOMPOSED
        fits, held = _ridge_fits(counts, float(p), solved, item, ahead * trainings)
    else:
        fits, held = _convex_fits(counts, float(p), ridges, given["loss"], item, threads)
    seconds = _OPERATION * (operations + trainings * fits) + _DRAW * (drawn + samples * d)
    blocks = ROWS * (ahead * (item * p + (4 if item == 4 else 12) * d) + item * p)
    weights = 4 * p * d * (1 if item == 4 else 3)
    return Cost(seconds, (weights + max(step, held + blocks + 24 * p * readouts)) / MIB)


def _first_layer(problem: Problem, d: int, p: int, ahead: int) -> tuple[float, float, float]:
    """Count operations, random numbers and bytes of a first layer and its steps."""
    weights = float(p) * d
    if isinstance(problem, SpikedFeatures):
        return 0.0, weights, 4 * weights
    if problem.follows_population:  # products of all pairs of rows
        pairs = problem.steps * (8 * p * weights + _PAIR * p**2)
        return pairs, weights, 28 * weights + 48 * p**2
    samples = sum(round(step.alpha0 * d) for step in problem.each_step)
    held = 8 * weights + ahead * FEWER_ROWS * (12 * p + 4 * d)
    return samples * (4.0 * weights + _SAMPLE), weights + float(samples) * d, held


def _ridge_fits(
    counts: Array, p: float, ridges: int, item: int, copies: int
) -> tuple[float, float]:
    """Count operations of the ridge regressions of one training set, and bytes of all."""
    dual, primal = counts[counts < p], counts[counts >= p]
    smaller = np.minimum(counts, p)
    operations = 2 * p * np.sum(dual**2) + ridges * np.sum(smaller**3) / 3
    operations += p**2 * (2 * max(primal, default=0.0) + ROWS * primal.size)
    rows = max(dual, default=0.0)
    held = item * rows * p * 2 + (8 + item) * rows**2 * min(copies, 2 * dual.size)
    if primal.size:
        matrices = 8 + (8 + 2 * item) * min(copies, primal.size)
        held = max(held, matrices * p**2)
    return item / 4 * float(operations), float(held)


def _convex_fits(
    counts: Array, p: float, ridges: Array, loss: str, item: int, threads: int
) -> tuple[float, float]:
    """Count operations of the fits of another loss on one training set, and bytes of all."""
    steps = np.full((ridges.size, counts.size), _CORNER_STEPS if _has_corner(loss) else _STEPS)
    if isinstance(lookup_loss(loss), ClippedLoss):
        steps *= (1 + counts / p) ** 0.5 * (np.minimum(ridges / _EASY_RIDGE, 1) ** -0.15)[:, None]
    operations = _ENTRY * np.sum(steps * (2 * counts * p + 300 * counts + 6e4))
    kept = math.ceil(counts.max() / ROWS) * ROWS * p
    each = 8 * counts * (p + np.minimum(counts, p))
    return 2 * float(operations), item * kept + threads * float(each.max())


def cost_of_data(shape: tuple[int, ...], beta: float, predictions: int) -> Cost:
    """Estimate networks on given samples; most of it are predictions from the features of all."""
    (count, d), p = shape, math.ceil(beta * shape[1])
    each = cost_of_subsets((count, p), predictions)
    return Cost(each.seconds, each.memory + 8.0 * (3 * count * d + 2 * p * d) / MIB)


def cost_of_subsets(shape: tuple[int, ...], predictions: int) -> Cost:
    """Estimate predictions from given features, of shape (N, p)."""
    count, p = shape
    one = _SUBSET_VALUE * count * p + _SUBSET_PRODUCT * (float(count) * p**2 + p**3 / 3)
    return Cost(predictions * one, 8.0 * (_SUBSET_ARRAYS * count * p + 3 * p**2) / MIB)
