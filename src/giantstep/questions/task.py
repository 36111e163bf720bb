"""A task: a question about a problem, as the workflow's jobs ask it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from giantstep.problems.problem import Problem
from giantstep.problems.recovery import Recovery


@dataclass(frozen=True)
class Task:
    """One call of a question: all that its result depends on, besides the code.

    Attributes
    ----------
    question : str
        Name of a function of this wing, such as "solve".
    problem : Protocol, SpikedFeatures or Recovery
    arguments : mapping of str to object
        Its further arguments, by name.
    """

    question: str
    problem: Problem | Recovery
    arguments: Mapping[str, Any]
