"""What the workflow would make of a view in a project, by the workflow's own code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from giantstep.explore.figure import write_figure
from giantstep.explore.tasks import ExportTask
from giantstep.workflow.code import installed_folder
from giantstep.workflow.config import MAIN, load_config
from giantstep.workflow.figure_plan import FigurePlan
from giantstep.workflow.plan import make_plan


def plan_figure(folder: Path, task: ExportTask, config: dict[str, Any]) -> FigurePlan:
    """Write the figure of a view into a folder, and plan it with the configuration of a project.

    Raises
    ------
    InvalidConfigError
        For what the workflow would refuse.
    """
    write_figure(folder, task.view, task.networks, task.name)
    return make_plan(folder, config | {"figures": [task.name]}).figure(task.name)


def project_config(project: Path) -> dict[str, Any]:
    """Return the configuration of a project; where there is none, that of a new project.

    Raises
    ------
    InvalidConfigError
    """
    there = (project / MAIN).is_file()
    return load_config(project if there else installed_folder() / "workflow/project")
