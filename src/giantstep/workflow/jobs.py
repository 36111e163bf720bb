"""What jobs do: compute tasks, and read what others have computed.

Keys of all results cover this module, so what only merges or draws is elsewhere.
"""

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
    check : callable
        Called when all is computed; raises if nothing is to be written.
    **options
        Of `answer_task`; they change no number.
    """
    distinct = {digest(task): task for task in tasks.values()}
    answers = {name: _described(task, **options) for name, task in distinct.items()}
    check()
    store.write({group: answers[digest(task)] for group, task in tasks.items()}, path)


def _described(task: Task, **options: Any) -> xr.Dataset:
    """Compute a task, and note what was computed, and by which versions."""
    data = answer_task(task, **options)
    libraries = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    return data.assign_attrs(task=json.dumps(plain(task), sort_keys=True), libraries=libraries)


def join_networks(shards: list[xr.Dataset]) -> xr.Dataset:
    """Put simulations of different networks together, in the order of the networks."""
    bare = [shard.drop_attrs() for shard in shards]
    whole = xr.concat(bare, "network", data_vars="all", join="exact").sortby("network")
    return whole.assign_attrs(shards[0].attrs)
