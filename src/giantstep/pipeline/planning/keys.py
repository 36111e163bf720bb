"""Names of results: a summary for people who list the folder, and a hash of all that matters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from giantstep.pipeline.planning.fingerprint import key
from giantstep.pipeline.planning.layout import Stage
from giantstep.pipeline.planning.tasks import RecoveryTask, ShardTask, Task, block_name
from giantstep.problems.formatting import format_number
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol


def result_keys(stage: Stage, tasks: Sequence[Task]) -> tuple[str, ...]:
    """Name the results of a curve at one stage.

    Parameters
    ----------
    stage : Stage
    tasks : sequence of Task
        One; or all shards of one simulation, whose results are in one folder.
    """
    task = tasks[0]
    if isinstance(task, RecoveryTask):
        return (key(_recovery_slug(task), stage.module, (task.problem.activation,), task),)
    slug, functions = _slug(task.problem), (task.problem.activation, task.problem.target)
    if not isinstance(task, ShardTask):
        return (key(slug, stage.module, functions, task),)
    folder = key(slug, stage.module, functions, replace(task, networks=()))
    shards = (shard for shard in tasks if isinstance(shard, ShardTask))
    return tuple(f"{folder}/{block_name(shard.networks)}" for shard in shards)


def _slug(problem: Problem) -> str:
    """Summarise a problem."""
    if isinstance(problem, Protocol):
        gist = f"eta{format_number(problem.learning_rate)}-alpha0_{format_number(problem.alpha0)}"
    else:
        strengths = "_".join(f"{strength:.4g}" for strength in problem.groups.u[:4])
        gist = f"r{strengths}-gamma{format_number(problem.alignment)}"
    functions = f"{problem.activation}-{problem.target}"
    return _as_file_name(f"{functions}-{gist}")


def _recovery_slug(task: RecoveryTask) -> str:
    problem, dimension = task.problem, task.dimension
    batch = problem.batch(dimension)
    return _as_file_name(f"{problem.activation}-{problem.teacher}-d{dimension}-n0_{batch}")


def _as_file_name(text: str) -> str:
    """Make a text the beginning of a file's name."""
    return re.sub(r"[^\w.+-]", "_", text)[:80]
