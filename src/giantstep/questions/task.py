"""A task: a question about a problem, as the workflow's jobs ask it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

from giantstep.problems.problem import Problem

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Task:
    """One call of a question: all that its result depends on, besides the code.

    Attributes
    ----------
    question : str
        Name of a function of this wing, such as "solve".
    problem : Protocol or SpikedFeatures
    arguments : mapping of str to object
        Its further arguments, by name.
    """

    question: str
    problem: Problem
    arguments: Mapping[str, Any]


def question_named(name: str) -> Any:
    """Import a question, and only what it needs; of networks, nothing of the theory."""
    # Those about networks alone share a module; each other has one of its own name.
    module = "networks" if name in ("replicates", "eigenvalues") else name
    return getattr(import_module(f"giantstep.questions.{module}"), name)


def answer_task(task: Task, **options: Any) -> xr.Dataset:
    """Answer a task.

    Parameters
    ----------
    task : Task
    **options
        Such as `threads` and `progress`, which change no number; questions without such arguments
        ignore them.

    Examples
    --------
    >>> import giantstep
    >>> problem = giantstep.Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1)
    >>> task = Task("solve", problem, {"alpha": 1, "ridge": 0.1})
    >>> answer_task(task, threads=2).test_error.round(4).item()
    0.0407
    """
    question, options = question_named(task.question), {"max_hours": math.inf} | options
    known = {name: options[name] for name in options if name in signature(question).parameters}
    return question(task.problem, **task.arguments, **known)
