"""The result of a task: what its stage's module computes, described.

The key of every result covers this module, so it knows no kind of task.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Any

import xarray as xr

from giantstep.pipeline.storage.description import describe
from giantstep.problems.canonical import plain


def compute_result(stage: ModuleType, task: object, **options: Any) -> xr.Dataset:
    """Compute the result of a task.

    Parameters
    ----------
    stage : module
        With `compute` and `TITLE`: one of `pipeline.stages`.
    task : object
        One of `planning.tasks`, whose fields are the arguments of `compute`.
    **options
        Further arguments of `compute`, which change no number.
    """
    data: xr.Dataset = stage.compute(**vars(task), **options)
    return describe_result(stage, task, data)


def describe_result(
    stage: ModuleType, task: object, data: xr.Dataset, libraries: Iterable[str] = ()
) -> xr.Dataset:
    """Add the meaning of the variables, and the parameters that determine them.

    `libraries` are versions that parts of the data come from, besides those that are installed.
    """
    parameters = task_parameters(task)
    root_seed = parameters.pop("root_seed", None)
    return describe(
        data,
        title=stage.TITLE,
        parameters=parameters,
        root_seed=root_seed,
        libraries=libraries,
    )


def task_parameters(task: object) -> dict[str, Any]:
    """Write the fields of a task as JSON can hold them."""
    return {name: plain(value) for name, value in vars(task).items()}
