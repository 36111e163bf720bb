"""What makes a result the same result: its task, and the code that computes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from giantstep.problems.canonical import digest, plain
from giantstep.problems.formatting import format_number, format_value
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.questions.task import Task
from giantstep.validation import whole_number
from giantstep.workflow.code import code_hash, code_of
from giantstep.workflow.shards import with_networks


def key(stage: str, *parts: Any) -> str:
    """Hash what a job computes, and the code that it uses.

    Parameters
    ----------
    stage : {"parameters", "theory", "montecarlo", "merge", "figure"}
    *parts
        All that the result depends on besides; see `problems.canonical`.
    """
    code = [code_hash(path) for path in code_of(stage)]
    return digest(stage, one_number(plain(parts)), code)[:12]


def one_number(value: Any) -> Any:
    """Write numbers in one way, since YAML has two: 1 and 1.0."""
    if isinstance(value, dict):
        return {whole_number(name): one_number(one) for name, one in value.items()}
    if isinstance(value, list):
        return [one_number(one) for one in value]
    return whole_number(value)


def result_key(stage: str, tasks: Mapping[str, Task]) -> str:
    """Return the key of a job's result; the replicates of a shard are in the name of its file."""
    if stage != "montecarlo":
        return key(stage, tasks)
    (task,) = tasks.values()
    return key(stage, with_networks(task, ()))


def slug(problem: Problem) -> str:
    """Summarise a problem for people who list a folder of results."""
    if isinstance(problem, Protocol):
        rate, alpha0 = format_value(problem.learning_rate), format_value(problem.alpha0)
        words = [problem.activation, problem.target, f"eta{rate}", f"alpha0_{alpha0}"]
    else:
        strengths = "_".join(f"{strength:.4g}" for strength in problem.groups.u[:4])
        overlaps = "_".join(format_number(overlap) for overlap in problem.alignments.tolist())
        words = [problem.activation, problem.target, f"r{strengths}", f"gamma{overlaps}"]
    return re.sub(r"[^\w.+-]", "_", "-".join(words))[:80]
