"""What the jobs of parameters, theory and networks do. Keys of all results cover this module."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import xarray as xr

from giantstep.problems.canonical import digest, plain
from giantstep.questions.task import Task, answer_task

# Whose versions numbers may depend on.
_LIBRARIES = ("numpy", "scipy")
_COMMENT = "The merged file of a figure has the meaning, symbol and units of each variable"


def compute(tasks: Mapping[str, Task], **options: Any) -> dict[str, xr.Dataset]:
    """Compute tasks, equal ones once.

    Parameters
    ----------
    tasks : mapping of str to Task
        By the group of their file; "/" for the only one.
    **options
        Of `answer_task`; they change no number.
    """
    distinct = {digest(task): task for task in tasks.values()}
    answers = {key: described(task, answer_task(task, **options)) for key, task in distinct.items()}
    return {group: answers[digest(task)] for group, task in tasks.items()}


def described(task: Task, data: xr.Dataset) -> xr.Dataset:
    """Note what was computed, and by which versions."""
    libraries = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    return data.assign_attrs(
        task=json.dumps(plain(task), sort_keys=True), libraries=libraries, comment=_COMMENT
    )
