"""What each job of the workflow costs: core-seconds, memory and disk, and what to request for it.

`simulation_work` counts what simulated networks take. The other stages take seconds, and theirs
are plain measured figures. Requests to a scheduler add margins.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from giantstep.pipeline.planning.blocks import Simulation, replicate_seconds
from giantstep.pipeline.planning.figure_plan import FigurePlan
from giantstep.pipeline.planning.plan import Plan
from giantstep.pipeline.planning.shard_task import ShardTask
from giantstep.pipeline.planning.simulation_work import (
    MIB,
    eigenvalues_memory,
    group_count,
    network_memory,
    recovery_memory,
)
from giantstep.pipeline.planning.tasks import (
    Curve,
    DimensionsTask,
    EigenvaluesTask,
    LearningRatesTask,
    MapTask,
    RecoveryTask,
    SpectrumTask,
    Task,
    TheoryTask,
)
from giantstep.pipeline.planning.theory_work import (
    map_seconds,
    rates_seconds,
    spectrum_seconds,
    theory_memory,
    theory_points,
    theory_seconds,
)
from giantstep.problems.grid import Grid

# What every job takes: starting Python and Snakemake, and what they hold.
START_SECONDS, START_MEMORY = 1.0, 200.0
# What every file takes: MiB of names, meanings and attributes; seconds of writing or reading it.
FILE, FILE_SECONDS = 0.03, 0.03
DRAWING_SECONDS, DRAWING = 2.0, 0.35
# Points of a density (stages.spectrum.POINTS, which planning may not import).
SPECTRUM_POINTS = 600
# Merging holds the theory of a curve and one variable, less than the figure's file. A drawing holds
# what it draws, at most all of it. Seconds of merging are for each MiB.
MERGING_MEMORY, DRAWN_COPIES, MERGING_SECONDS = 100.0, 1.5, 0.02
# Numbers that a merged file holds for each curve, each of its points, and each simulated point; and
# the values that simulations measure besides overlaps: errors, the learned function in slabs.
_OF_CURVE, _OF_POINT, _OF_SIMULATED, _MEASURED = 2000, 19, 255, 22
# A replicate that takes longer than this many seconds is shared by threads, up to so many.
LONGEST_REPLICATE, LARGEST_THREADS = 4 * 3600, 8
# Requests to a scheduler: factors on the estimates, and what the submission itself needs.
MEMORY_MARGIN, TIME_MARGIN = 1.3, 3.0
SUBMISSION_MEMORY, SUBMISSION_MINUTES = 300, 2


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


def shard(task: ShardTask, networks: int | None = None, threads: int = 1) -> Cost:
    """Estimate a shard.

    Parameters
    ----------
    task : ShardTask
    networks : int, optional
        How many of its replicates are still to be simulated; by default all.
    threads : int
    """
    memory = network_memory(task.problem, task.grid, task.sizes, threads)
    raw = len(task.networks) * _raw_disk(task)
    # A replicate's own file is written before the shard's, which replaces it.
    return Cost(_shard_seconds(task, networks), START_MEMORY + memory, FILE + raw)


def shard_threads(task: ShardTask) -> int:
    """Return how many threads keep one replicate short, which is all that a stopped shard loses.

    No more than needed: memory grows with each thread.
    """
    return min(LARGEST_THREADS, math.ceil(replicate_seconds(task) / LONGEST_REPLICATE))


def eigenvalues(task: EigenvaluesTask, networks: int | None = None) -> Cost:
    """Estimate a shard of the eigenvalues of simulated features."""
    neurons = task.sizes.count(task.problem.beta)
    memory = eigenvalues_memory(task.problem, task.alpha, task.sizes)
    disk = FILE + 8 * neurons * len(task.networks) / MIB
    return Cost(_shard_seconds(task, networks), START_MEMORY + memory, disk)


def recovery(task: RecoveryTask, networks: int | None = None) -> Cost:
    """Estimate a shard of the simulated recovery of a multi-index teacher."""
    memory = recovery_memory(task.problem, task.dimension)
    return Cost(_shard_seconds(task, networks), START_MEMORY + memory, FILE)


def _shard_seconds(task: Simulation, networks: int | None) -> float:
    count = len(task.networks) if networks is None else networks
    return START_SECONDS + count * (replicate_seconds(task) + FILE_SECONDS)


def theory(task: TheoryTask) -> Cost:
    """Estimate the theory of a curve over its grid."""
    groups = group_count(task.problem)
    points = theory_points(task.grid, task.optimal)
    disk = FILE + points * 8 * (8 + 4 * groups + 2 * groups**2) / MIB
    seconds = theory_seconds(task.problem, points, task.grid.loss, task.bulk)
    memory = theory_memory(points, task.grid.loss, task.bulk)
    return Cost(FILE_SECONDS + seconds, START_MEMORY + memory, disk)


def dimensions(task: DimensionsTask) -> Cost:
    """Estimate the theory of a curve at several dimensions."""
    points, loss = theory_points(task.grid, optimal=False), task.grid.loss
    solved = len(task.dimensions) * points
    seconds = theory_seconds(task.problem, solved, loss, task.bulk)
    return Cost(FILE_SECONDS + seconds, START_MEMORY + theory_memory(points, loss, task.bulk))


def learning_rates(task: LearningRatesTask) -> Cost:
    """Estimate the theory of a curve after each step, at several learning rates."""
    points, loss = theory_points(task.grid, optimal=False), task.grid.loss
    seconds = rates_seconds(task.problem, len(task.learning_rates), points, loss, task.bulk)
    return Cost(FILE_SECONDS + seconds, START_MEMORY + theory_memory(points, loss, task.bulk))


def of_task(task: Task, networks: int | None = None, threads: int = 1) -> Cost:
    """Estimate the result of a task; one that is not named here is only written.

    Theory is without the start of its job, which computes several (`of_theory`).

    Parameters
    ----------
    task : Task
    networks : int, optional
        How many replicates of a shard are still to be simulated; by default all.
    threads : int
    """
    match task:
        case ShardTask():
            return shard(task, networks, threads)
        case EigenvaluesTask():
            return eigenvalues(task, networks)
        case RecoveryTask():
            return recovery(task, networks)
        case TheoryTask():
            return theory(task)
        case DimensionsTask():
            return dimensions(task)
        case LearningRatesTask():
            return learning_rates(task)
        case MapTask():
            points = len(task.x_values) * len(task.y_values)
            return Cost(FILE_SECONDS + map_seconds(points), disk=FILE + 32 * points / MIB)
        case SpectrumTask():
            spectrum = task.problem, SPECTRUM_POINTS, task.bulk, task.dimension
            return Cost(FILE_SECONDS + spectrum_seconds(*spectrum))
        case _:
            return Cost(FILE_SECONDS)


def of_theory(tasks: Sequence[Task]) -> Cost:
    """Estimate a job of theory, which computes several results one after another."""
    each = [of_task(task) for task in tasks]
    return Cost(
        START_SECONDS + sum(cost.seconds for cost in each),
        max(cost.memory for cost in each),
        sum(cost.disk for cost in each),
    )


def of_figure(stage: str, plan: Plan, figure: FigurePlan) -> Cost:
    """Estimate a job of a figure: "merge", "figures" or "scores"."""
    if stage == "scores":  # a small table
        return Cost(START_SECONDS, disk=0.0)
    return {"merge": merging, "figures": drawing}[stage](plan, figure)


def _raw_disk(task: ShardTask) -> float:
    """Count the MiB of what is measured of one network replicate."""
    groups = group_count(task.problem)
    readouts = task.sizes.trainings * len(task.grid.alpha) * len(task.grid.ridge)
    return 8 * readouts * (_MEASURED + 4 * groups + groups**2) / MIB


def _merged_disk(plan: Plan, curve: Curve) -> float:
    """Count the MiB that a curve fills in its figure's file."""
    tasks = [plan.tasks[stage][key] for stage, keys in curve.keys.items() for key in keys]
    shards = [task for task in tasks if isinstance(task, ShardTask)]
    raw = sum(len(task.networks) * _raw_disk(task) for task in shards)
    raw += sum(eigenvalues(task).disk for task in tasks if isinstance(task, EigenvaluesTask))
    solved = sum(_points(task.grid) for task in tasks if isinstance(task, TheoryTask))
    simulated = _points(shards[0].grid) if shards else 0
    held = _OF_CURVE + _OF_POINT * solved + _OF_SIMULATED * simulated
    return raw + 8 * held / MIB


def _points(grid: Grid) -> int:
    return len(grid.alpha) * len(grid.ridge)


def merging(plan: Plan, figure: FigurePlan) -> Cost:
    """Estimate the merging of a figure."""
    disk = FILE + sum(_merged_disk(plan, curve) for curve in figure.curves)
    files = sum(len(keys) for curve in figure.curves for keys in curve.keys.values())
    seconds = START_SECONDS + files * FILE_SECONDS + disk * MERGING_SECONDS
    return Cost(seconds, START_MEMORY + MERGING_MEMORY + disk, disk)


def drawing(plan: Plan, figure: FigurePlan) -> Cost:
    """Estimate the drawings of a figure."""
    held = merging(plan, figure).disk
    return Cost(START_SECONDS + DRAWING_SECONDS, START_MEMORY + DRAWN_COPIES * held, DRAWING)


class Request(NamedTuple):
    """What a job requests from a scheduler: memory in MiB, and minutes."""

    memory: int
    minutes: int


def request(cost: Cost, threads: int = 1, attempt: int = 1) -> Request:
    """Add margins to an estimate, for slower machines and for its errors; each attempt gets more.

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
