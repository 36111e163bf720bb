"""What the jobs of parameters, theory and networks do. Keys of all results cover this module."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import xarray as xr

from giantstep.problems.canonical import digest, plain
from giantstep.questions.task import Task, answer_task
from giantstep.workflow import store

# Whose versions numbers may depend on.
_LIBRARIES = ("numpy", "scipy")
_COMMENT = "The merged file of a figure has the meaning, symbol and units of each variable"


def compute(
    tasks: Mapping[str, Task],
    path: str | Path,
    check: Callable[[], None] = lambda: None,
    **options: Any,
) -> None:
    """Compute tasks, equal ones once, and write their results to one file.

    Parameters
    ----------
    tasks : mapping of str to Task
        By the group of the file; "/" for the only one.
    path : str or Path
    check : callable, optional
        Called before the file is written: it raises what keeps it from being written.
    **options
        Of `answer_task`; they change no number.
    """
    distinct = {digest(task): task for task in tasks.values()}
    answers = {key: described(task, answer_task(task, **options)) for key, task in distinct.items()}
    check()
    store.write({group: answers[digest(task)] for group, task in tasks.items()}, path)


def described(task: Task, data: xr.Dataset) -> xr.Dataset:
    """Note what was computed, and by which versions."""
    libraries = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    return data.assign_attrs(
        task=json.dumps(plain(task), sort_keys=True), libraries=libraries, comment=_COMMENT
    )
