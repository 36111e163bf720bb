"""What the workflow would make of a view: planned, computed, merged and drawn by its own code."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

import xarray as xr

from giantstep.explore.figure import write_figure
from giantstep.explore.networks import simulated_values
from giantstep.explore.project import project_config
from giantstep.explore.tasks import Answer, Shown
from giantstep.explore.theory import moved_to
from giantstep.figures import style
from giantstep.pipeline.planning.identities import merged_name
from giantstep.pipeline.planning.layout import STAGES, TASK_STAGES
from giantstep.pipeline.planning.plan import Plan, make_plan
from giantstep.pipeline.planning.shard_task import ShardTask
from giantstep.pipeline.planning.tasks import Task
from giantstep.pipeline.runtime.drawing_code import load_drawing
from giantstep.pipeline.stages.dataset_layout import join_networks
from giantstep.pipeline.stages.merge import merge_figure
from giantstep.pipeline.stages.result import compute_result, describe_result
from giantstep.pipeline.storage import large_netcdf, netcdf
from giantstep.validation import Fault, InvalidParametersError


def plan_figure(folder: Path, shown: Shown, name: str, project: Path) -> Plan:
    """Write the figure of a view into a folder, and plan it with the configuration of a project.

    Raises
    ------
    InvalidConfigError
        For what the workflow would refuse.
    """
    write_figure(folder, shown.view, shown.networks, name)
    return make_plan(folder, project_config(project) | {"figures": [name]})


def make_figure_files(folder: Path, shown: Shown, name: str, project: Path) -> dict[str, Path]:
    """Make the merged file and the drawings of a view's figure; return their paths by suffix.

    They are the bytes that the workflow makes of the figure in the project.

    Raises
    ------
    InvalidConfigError
        For what the workflow would refuse.
    InvalidParametersError
        If the project's networks are others than those that are shown.
    """
    plan = plan_figure(folder, shown, name, project)
    for stage in TASK_STAGES:
        for key, task in plan.tasks[stage.name].items():
            (path,) = stage.paths(key)
            found = _result(import_module(stage.module), task, shown)
            netcdf.write(found, folder / path, f"{stage.name}/{key}")
    figure = plan.figures[name]
    source = merged_name(plan.root, figure)
    merged = merge_figure(figure.curves, figure.science, figure.sizes, figure.root_seed, folder)
    (data,) = (folder / path for path in STAGES["merge"].paths(name))
    drawings = [folder / path for path in STAGES["figures"].paths(name)]
    large_netcdf.write(merged, data, source)
    drawings[0].parent.mkdir()
    found, draw = large_netcdf.read(data, source), load_drawing(figure.drawing)
    style.draw_and_save(lambda: draw(found, figure.config), drawings, figure.provenance(source))
    return {path.suffix: path for path in (data, *drawings)}


def _result(stage: ModuleType, task: Task, shown: Shown) -> xr.Dataset:
    """Compute a result, or take it from the networks that were simulated beside the view."""
    if not isinstance(task, ShardTask):
        return compute_result(stage, task)
    assert shown.networks is not None
    _check_networks(task, shown.simulated)
    view = shown.networks.view
    place = 0
    if view.x not in ("alpha", "ridge"):
        values = simulated_values(view)
        place = [moved_to(view.question, view.x, x).problem for x in values].index(task.problem)
    replicates = [shown.simulated["replicates"][network][place] for network in task.networks]
    return describe_result(stage, task, join_networks(replicates))


def _check_networks(task: ShardTask, simulated: Answer) -> None:
    """Refuse networks of a configuration that was edited since they were simulated."""
    planned = {"seed": task.root_seed, "trainings": task.sizes.trainings}
    faults = [
        Fault(name, value, f"{simulated[name]}, as when these networks were made: simulate again")
        for name, value in planned.items()
        if value != simulated[name]
    ]
    if faults:
        raise InvalidParametersError(faults)
