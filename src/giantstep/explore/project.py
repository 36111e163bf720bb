"""What the workflow would make of a view in a project, by the workflow's own code."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path
from typing import Any

import xarray as xr

from giantstep.explore.figure import write_figure
from giantstep.explore.tasks import ExportTask
from giantstep.questions.task import Task
from giantstep.workflow import store
from giantstep.workflow.code import installed_folder
from giantstep.workflow.config import MAIN, load_config
from giantstep.workflow.drawing import draw_figure
from giantstep.workflow.figure_plan import FigurePlan, drawings
from giantstep.workflow.jobs import compute, described
from giantstep.workflow.merge import merge_figure
from giantstep.workflow.plan import make_plan
from giantstep.workflow.results import join_networks, read_merged, read_results


def plan_figure(folder: Path, task: ExportTask, config: dict[str, Any]) -> FigurePlan:
    """Write the figure of a view into a folder, and plan it with the configuration of a project.

    Raises
    ------
    InvalidConfigError
        For what the workflow would refuse.
    """
    write_figure(folder, task.view, task.networks, task.name)
    return make_plan(folder, config | {"figures": [task.name]}).figure(task.name)


def make_figure_files(folder: Path, task: ExportTask, config: dict[str, Any]) -> dict[str, Path]:
    """Make the merged file and the drawings of a view's figure; return their paths by suffix.

    They are the bytes that the workflow makes of the figure in the project.

    Raises
    ------
    InvalidConfigError
        For what the workflow would refuse.
    """
    plan = plan_figure(folder, task, config)
    with chdir(folder):
        for path, tasks in plan.solved.items():
            compute(tasks, path)
        for networks in plan.networks:
            simulated = _simulated(networks.task, task.simulated)
            for path, tasks in networks.shards:
                of_shard = list(tasks["/"].arguments["networks"])
                store.write(simulated.isel(network=of_shard), path)
        results = read_results(plan, plan.solved, plan.shards)
        store.write(merge_figure(plan, results), plan.merged)
        drawn = drawings(plan.name)
        draw_figure(plan.name, plan.config, read_merged(plan), plan.source, drawn)
    return {path.suffix: folder / path for path in map(Path, [plan.merged, *drawn])}


def _simulated(task: Task, simulated: dict[str, Any]) -> xr.Dataset:
    """Take networks from those that were simulated beside the view."""
    place = [one.problem for one in simulated["tasks"]].index(task.problem)
    replicates = simulated["replicates"]
    return join_networks([described(task, parts[place]) for parts in replicates])


def project_config(project: Path) -> dict[str, Any]:
    """Return the configuration of a project; where there is none, that of a new project.

    Raises
    ------
    InvalidConfigError
    """
    there = (project / MAIN).is_file()
    return load_config(project if there else installed_folder() / "workflow/project")
