"""What makes a result the same result: its task, and the code that computes it."""

from __future__ import annotations

import re
from typing import Any

from giantstep.problems.canonical import digest
from giantstep.problems.formatting import format_value
from giantstep.problems.problem import Problem
from giantstep.workflow.code import code_hash, code_of

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
    return digest(stage, parts, code)[:12]


def slug(problem: Problem) -> str:
    """Summarise a problem for people who list a folder of results."""
    words = [f"{x}_{format_value(getattr(problem, x))}" for x in _SHOWN if hasattr(problem, x)]
    return re.sub(r"[^\w.+-]", "_", "-".join([problem.activation, problem.target, *words]))[:80]
