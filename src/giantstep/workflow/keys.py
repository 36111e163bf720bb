"""What makes a result the same result: its task, and the code that computes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from giantstep.problems.canonical import digest, plain
from giantstep.problems.formatting import format_value
from giantstep.problems.problem import Problem
from giantstep.questions.task import Task
from giantstep.validation import whole_number
from giantstep.workflow.code import code_hash, code_of
from giantstep.workflow.shards import with_networks

# In the names of folders.
_SHOWN = ("learning_rate", "alpha0", "spike_strength", "alignment")


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
    words = [f"{x}_{format_value(getattr(problem, x))}" for x in _SHOWN if hasattr(problem, x)]
    return re.sub(r"[^\w.+-]", "_", "-".join([problem.activation, problem.target, *words]))[:80]
