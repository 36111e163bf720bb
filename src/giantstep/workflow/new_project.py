"""A new project: a folder with a config and an example, for the workflow that is installed."""

from __future__ import annotations

import shutil
from pathlib import Path

from giantstep.workflow.keys import PACKAGE


class NotEmptyError(FileExistsError):
    """There is something in the folder of a project that is to be made."""


def installed_folder() -> Path:
    """Return the folder that holds workflow/ and profiles/: the wheel's, or that of the clone."""
    packed = PACKAGE / "project"
    return packed if packed.is_dir() else PACKAGE.parents[1]


def create_project(folder: Path) -> list[Path]:
    """Write a project in which `snakemake --cores all` runs.

    Parameters
    ----------
    folder : Path
        Made if it is missing.

    Returns
    -------
    list of Path
        The files that it now holds, from the folder.

    Raises
    ------
    NotEmptyError
        If the folder holds anything.
    """
    if folder.exists() and any(folder.iterdir()):
        raise NotEmptyError(f"{folder} is not empty: name another folder, which is then made")
    home = installed_folder()
    shutil.copytree(home / "workflow/project", folder, dirs_exist_ok=True)
    shutil.copytree(home / "workflow/schemas", folder / "config/schemas")
    shutil.copytree(home / "profiles", folder / "profiles")
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
