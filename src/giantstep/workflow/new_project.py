"""A new project: a folder with a config and an example, for the workflow that is installed."""

from __future__ import annotations

import shutil
from filecmp import cmpfiles
from pathlib import Path

from giantstep.validation import refusal
from giantstep.workflow.code import installed_folder
from giantstep.workflow.config import FIGURES, load_yaml
from giantstep.workflow.figure_config import files_of

EXAMPLE = "example"


def foreign_drawings(project: Path) -> list[Path]:
    """List a project's drawing code that is not giantstep's own, byte for byte."""
    names = sorted(path.name for path in (project / FIGURES).glob("*.py"))
    same, _, _ = cmpfiles(installed_folder() / FIGURES, project / FIGURES, names, shallow=False)
    return [FIGURES / name for name in names if name not in same]


def create_project(folder: Path, figure: str = EXAMPLE) -> list[Path]:
    """Write a project in which `snakemake --cores all` runs.

    Parameters
    ----------
    folder : Path
        Made if it is missing.
    figure : str
        With which it begins: the example, or a figure of giantstep.

    Returns
    -------
    list of Path
        The files that it now holds, from the folder.

    Raises
    ------
    FileExistsError
        If the folder holds anything.
    InvalidParametersError
        If there is no such figure.
    """
    home = installed_folder()
    known = {path.stem: path for path in sorted((home / FIGURES).glob("*.yaml"))}
    if figure != EXAMPLE and figure not in known:
        raise refusal("from", figure, f"one of {', '.join(known)}")
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty: name another folder, which is then made")
    shutil.copytree(home / "workflow/project", folder, dirs_exist_ok=True)
    shutil.copytree(home / "workflow/schemas", folder / "config/schemas")
    shutil.copytree(home / "profiles", folder / "profiles")
    if figure != EXAMPLE:
        _begin_with(folder, known[figure])
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def _begin_with(folder: Path, figure: Path) -> None:
    """Put a figure of giantstep, with what its drawing needs, in the place of the example."""
    text = figure.read_text(encoding="utf-8").replace("../../workflow/schemas", "../schemas")
    (folder / FIGURES / figure.name).write_text(text, encoding="utf-8")
    for file in (f"{FIGURES}/{figure.stem}.py", *files_of(load_yaml(figure, figure.name))):
        if (path := installed_folder() / file).is_file():
            shutil.copy(path, folder / file)
    (folder / FIGURES / f"{EXAMPLE}.yaml").unlink()
    for name in ("README.md", "Snakefile", "config/config.yaml"):
        path = folder / name
        words = path.read_text(encoding="utf-8").replace(EXAMPLE, figure.stem)
        path.write_text(words, encoding="utf-8")
