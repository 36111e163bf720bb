"""The configuration of a project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from giantstep.workflow.code import installed_folder
from giantstep.workflow.config import MAIN, load_config


def project_config(project: Path) -> dict[str, Any]:
    """Return the configuration of a project; where there is none, that of a new project.

    Raises
    ------
    InvalidConfigError
    """
    there = (project / MAIN).is_file()
    return load_config(project if there else installed_folder() / "workflow/project")
