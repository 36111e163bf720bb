"""What a task takes: seconds of one core, and memory.

Networks are counted in operations of matrix products; their rate gives seconds, within a factor of
two for d from 250 to 3000, and of five for small networks with many samples and for other losses
than the square. Memory is that of the arrays that are held at once, an upper bound within a factor
of two. For the theory, seconds of a point were measured. `benchmarks/costs.py` shows the estimates
of networks beside measurements.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from giantstep.numerics.scalar_functions import BINARY
from giantstep.problems.combinations import combinations
from giantstep.problems.inputs import GAUSSIAN
from giantstep.problems.losses import SQUARE, is_square
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.questions.declaration import Question, stated
from giantstep.questions.task import Task
from giantstep.questions.values import as_lists, is_several
from giantstep.simulation.arithmetic import FEWER_ROWS, ROWS, SINGLE_FROM
from giantstep.validation import RefusalError

MIB = 2**20
# Time of a fit with its cross-validation, over that of a fit.
_CROSS_VALIDATED = 8
# Values of arguments that a task leaves out.
_DEFAULTS: dict[str, Any] = {"alpha": 1.0, "ridge": 0.1, "loss": SQUARE, "networks": 8}
_DEFAULTS |= {"trainings": 1, "test_samples": 10_000}
# Seconds of an operation of a matrix product in single precision.
_OPERATION = 8.6e-12
# Operations in the time of one value of an activation, one random number, one fit of a readout, and
# one pair of neurons in a closed form or a series.
_ACTIVATION, _NUMBER, _FIT, _PAIR = 300.0, 2e3, 2e7, 1.5e4
# Operations for each entry of a matrix that the iterations of a fit of another loss read.
_ITERATED = 6e3
# Seconds of the theory: of a problem; of each gradient step that is followed, or of a covariance;
# and of each point, of the square loss and of others.
_PROBLEM, _STEP = 5e-3, 0.1
_POINT, _CONVEX_POINT = 2e-4, 0.02
# Time of a decomposition, which serves all times of gradient flow, over that of a ridge.
_DECOMPOSED = 40
# Factor on the time for each further direction of the spikes.
_SPIKE = 30
# Points that the search for the best ridge solves, for the square loss and others; and candidates
# of a search for other optima, by the number of unknowns.
_SEARCH, _CONVEX_SEARCH, _CANDIDATES = 80, 10, (1, 80, 340, 700, 1300)
# MiB of a theory, and of each point.
_THEORY_MEMORY, _POINT_MEMORY = 400.0, 0.015
# Seconds of N groups of neurons over N^3, and MiB over N^2: of pairs of functions, on more nodes if
# their spikes are as different as 1, 2, ..., N.
_GROUPS, _GROUPS_MEMORY = 1.1e-3, 5.0
# Seconds of an error that is predicted from given samples: of each value of a feature, and of each
# product of two; and the number of arrays of features that are held.
_SUBSET_VALUE, _SUBSET_PRODUCT, _SUBSET_ARRAYS = 4e-7, 1.7e-9, 5
# The theory takes twice as long with each of these.
_LONGER = "derivatives", "cross_validation", "gains"
# Arguments whose values belong to one question.
_TOGETHER = ("alpha", "ridge", "gains", "over", "zip", "s", "networks")
# Most combinations of other arguments that are estimated; the rest are assumed to cost as much.
_ESTIMATED = 100


class Cost(NamedTuple):
    """The cost of a task: seconds of one core, and MiB at the peak, beyond those of any process."""

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
    CostError
    """
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    memory = machine if max_memory is None else max_memory
    for name, takes, most, unit in (
        ("max_memory", cost.memory / 1024, memory, "GiB of memory"),
        ("max_hours", cost.seconds / 3600, max_hours, "core-hours"),
    ):
        if takes > most:
            raise CostError(
                f"this takes about {takes:,.3g} {unit}, more than {most:,.3g}: it must be smaller,"
                f" or allowed with {name}={1.1 * takes:.3g}"
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
    >>> round(ten.seconds / one.seconds), bool(ten.memory == one.memory)
    (10, True)
    """
    together = _listed(task.arguments.get("zip", ()))[1:]  # these vary with the first of them
    given = {name: as_lists(x) for name, x in task.arguments.items() if name not in together}
    several = {k: x for k, x in given.items() if k not in _TOGETHER and is_several(k, x)}
    of, fields = stated(task.question), vars(task.problem)
    costs = []
    for chosen in islice(combinations(several), _ESTIMATED):
        here = _DEFAULTS | given | chosen
        with suppress(RefusalError):  # it is refused later
            changes = {name: x for name, x in here.items() if name in fields}
            problem = replace(task.problem, **changes) if changes else task.problem
            costs.append(_cost_of(of, problem, here, threads))
    seconds, memory = total_cost(costs)
    return Cost(seconds * math.prod(map(len, several.values())) / max(len(costs), 1), memory)


def _cost_of(of: Question, problem: Problem, given: Mapping[str, Any], threads: int) -> Cost:
    """Estimate what a question takes at one value of each parameter."""
    theory = _theory(of, problem, given) if of.theories else Cost(0, 0)
    if not of.networks:
        return theory
    networks = given["networks"]  # a number, or their indices, of which there may be billions
    count = networks if isinstance(networks, int) else len(networks)
    members = 0 if given.get("ensemble") in (None, math.inf) else given["ensemble"]
    longer = members + (_CROSS_VALIDATED if given.get("cross_validation") else of.networks)
    one = _network(problem, given, threads)
    memory = one.memory * max(1 + (longer > 1), members) + theory.memory
    return Cost(count * longer * one.seconds + theory.seconds, memory)


def _theory(question: Question, problem: Problem, of: Mapping[str, Any]) -> Cost:
    """Estimate the theory of all points of a question."""
    searched = {*_listed(of.get("over", ())), *(k for k in question.searched if of.get(k) is None)}
    times = question.theories * _CANDIDATES[min(len(searched - {"ridge"}), len(_CANDIDATES) - 1)]
    times *= 2 ** sum(bool(of.get(name)) for name in _LONGER)
    point, search = (_POINT, _SEARCH) if of["loss"] == SQUARE else (_CONVEX_POINT, _CONVEX_SEARCH)
    optimal = "ridge" in searched or isinstance(of["ridge"], str)
    ridges = search if optimal else len(_listed(of["ridge"]))
    points = len(_listed(of["alpha"])) * ridges * question.points
    groups = len(problem.readout if isinstance(problem, Protocol) else problem.groups.pi)
    solved = _PROBLEM + _GROUPS * groups**3 + points * point
    seconds = solved * _SPIKE**problem.further_directions + _STEP * problem.has_covariance
    if isinstance(problem, Protocol) and not problem.as_in_paper:
        seconds += problem.steps * _STEP
    memory = _THEORY_MEMORY + _GROUPS_MEMORY * groups**2 + _POINT_MEMORY * times * points
    return Cost(times * seconds, memory)


def _listed(value: Any) -> list[Any]:
    return [*value] if isinstance(value, list | tuple | Mapping) else [value]


def _network(problem: Problem, given: Mapping[str, Any], threads: int) -> Cost:
    """Estimate one network: its first layer, the features of all samples, fits and tests."""
    d, square = int(given["dimension"]), is_square(given["loss"])
    p, ahead = float(math.ceil(problem.beta * d)), threads + (threads > 1)
    of_each = isinstance(given["ridge"], str)  # a ridge for each alpha, still to be found
    ridges = np.ones(np.size(given["alpha"])) if of_each else np.atleast_1d(given["ridge"])
    item = 4 if np.min(ridges) >= SINGLE_FROM else 8  # bytes of a number, if features are about 1
    counts = np.maximum(1, np.round(np.atleast_1d(given["alpha"]) * d))
    exact = square and problem.target not in BINARY and problem.inputs == GAUSSIAN
    trainings, tests = given["trainings"], 0 if exact else given["test_samples"]
    readouts = trainings * counts.size * ridges.size
    kept = math.ceil(counts.max() / ROWS) * ROWS
    operations, step = _first_layer(problem, d, p, ahead)
    operations += (trainings * kept + tests) * (p * (2 * d + _ACTIVATION) + _NUMBER * d)
    operations += (4 * tests * p + _FIT) * readouts
    if square:  # by matrices of all neurons, or of all samples if these are fewer
        sides, many = np.minimum(counts, p), counts >= p
        products = np.sum(sides[~many] ** 2) + p * counts.max(where=many, initial=0)
        operations += (4 * readouts + _PAIR) * p**2
        solved = ridges.size if given["loss"] == SQUARE else _DECOMPOSED
        operations += trainings * (2 * p * products + solved * np.sum(sides**3) / 3)
        held = 2 * item * p * sides.max(where=~many, initial=0)
        held += (8 * max(many.sum(), 1) + (8 + item) * ahead) * sides.max() ** 2
    else:
        read = np.sqrt(1 + counts / p) * (2 * counts * p + 300 * counts + 6e4)
        operations += _ITERATED * trainings * ridges.size * read.sum()
        held = item * kept * p + threads * 8 * np.max(counts * (p + np.minimum(counts, p)))
    blocks = ROWS * (ahead * (item * p + (4 if item == 4 else 12) * d) + item * p)
    weights = 4 * p * d * (1 if item == 4 else 3)
    memory = weights + max(step, held + blocks + 24 * p * readouts)
    return Cost(_OPERATION * item / 4 * operations, memory / MIB)


def _first_layer(problem: Problem, d: int, p: float, ahead: int) -> tuple[float, float]:
    """Count operations and bytes of a first layer and its steps."""
    weights, steps = p * d, getattr(problem, "each_step", ())
    if problem.follows_population:  # products of all pairs of rows
        pairs = len(steps) * (8 * p * weights + _PAIR * p**2)
        return pairs + _NUMBER * weights, 28 * weights + 48 * p**2
    samples = sum(round(step.alpha0 * d) for step in steps)
    operations = samples * (4 * weights + _NUMBER * d) + _NUMBER * weights
    return operations, 8 * weights + ahead * FEWER_ROWS * (12 * p + 4 * d)


def cost_of_subsets(samples: int, features: int, predictions: int) -> Cost:
    """Estimate predictions from given features."""
    values = float(samples) * features
    one = _SUBSET_VALUE * values + _SUBSET_PRODUCT * (values * features + features**3 / 3)
    return Cost(predictions * one, 8 * (_SUBSET_ARRAYS * values + 3 * features**2) / MIB)
