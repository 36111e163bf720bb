"""The result of a task: what its stage's module computes, described."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import xarray as xr

from giantstep.pipeline.planning.layout import Stage
from giantstep.pipeline.planning.tasks import Task
from giantstep.pipeline.storage.vocabulary import describe
from giantstep.problems.canonical import plain


def compute_result(stage: Stage, task: Task, **options: Any) -> xr.Dataset:
    """Compute the result of a task.

    Parameters
    ----------
    stage : Stage
    task : Task
    **options
        Further arguments of the stage's `compute`, which change no number.
    """
    data: xr.Dataset = import_module(stage.module).compute(**vars(task), **options)
    return describe_result(stage, task, data)


def describe_result(stage: Stage, task: Task, data: xr.Dataset) -> xr.Dataset:
    """Add the meaning of the variables, and the parameters that determine them."""
    parameters = task_parameters(task)
    root_seed = parameters.pop("root_seed", None)
    title = import_module(stage.module).TITLE
    return describe(data, title=title, parameters=parameters, root_seed=root_seed)


def task_parameters(task: Task) -> dict[str, Any]:
    """Write the fields of a task as JSON can hold them."""
    return {name: plain(value) for name, value in vars(task).items()}
