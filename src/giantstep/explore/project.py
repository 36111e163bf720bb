"""The project into which figures are written, whose networks are simulated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from giantstep.pipeline.planning.config import MAIN, load_config
from giantstep.pipeline.planning.own_package import installed_folder


def project_config(project: Path) -> Any:
    """Return the configuration of a project; where there is none, that of a new project.

    Raises
    ------
    InvalidConfigError
    """
    there = (project / MAIN).is_file()
    return load_config(project if there else installed_folder() / "workflow/project")
