"""Names of results: a summary for people who list the folder, and a hash of all that matters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from giantstep.pipeline.planning.job_code import code_of_task
from giantstep.pipeline.planning.layout import Stage
from giantstep.pipeline.planning.shard_task import block_name
from giantstep.pipeline.planning.tasks import RecoveryTask, Task
from giantstep.problems.canonical import digest
from giantstep.problems.formatting import format_number
from giantstep.problems.protocol import Protocol

# Digits of the hash in a name.
_HASH = 12


def result_keys(
    root: Path, stage: Stage, tasks: Sequence[Task], versions: str = ""
) -> tuple[str, ...]:
    """Name the results of a curve at one stage.

    Parameters
    ----------
    root : Path
        The folder that holds workflow/.
    stage : Stage
    tasks : sequence of Task
        If they are shards, all of one simulation, whose results are in one folder.
    versions : str
        Of libraries, if they count.

    Raises
    ------
    UntraceableCodeError
    """
    task = tasks[0]
    code = code_of_task(root, stage, task)
    if not stage.sharded:
        return tuple(f"{_slug(one)}-{digest(code, versions, one)[:_HASH]}" for one in tasks)
    shards: Sequence[Any] = tasks
    whole = replace(shards[0], networks=())
    folder = f"{_slug(task)}-{digest(code, versions, whole)[:_HASH]}"
    return tuple(f"{folder}/{block_name(shard.networks)}" for shard in shards)


def _slug(task: Task) -> str:
    """Summarise what a task computes."""
    if isinstance(task, RecoveryTask):
        return _recovery_slug(task)
    problem = task.problem
    if isinstance(problem, Protocol):
        gist = f"eta{format_number(problem.learning_rate)}-alpha0_{format_number(problem.alpha0)}"
    else:
        strengths = "_".join(f"{strength:.4g}" for strength in problem.groups.u[:4])
        overlaps = "_".join(format_number(overlap) for overlap in problem.alignments.tolist())
        gist = f"r{strengths}-gamma{overlaps}"
    functions = f"{problem.activation}-{problem.target}"
    return _as_file_name(f"{functions}-{gist}")


def _recovery_slug(task: RecoveryTask) -> str:
    problem, dimension = task.problem, task.dimension
    batch = problem.batch(dimension)
    return _as_file_name(f"{problem.activation}-{problem.teacher}-d{dimension}-n0_{batch}")


def _as_file_name(text: str) -> str:
    """Make a text the beginning of a file's name."""
    return re.sub(r"[^\w.+-]", "_", text)[:80]
