"""Files of what is shown: drawings as the pipeline makes them, tables, netCDF, new figures."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from giantstep.explore.children import Say
from giantstep.explore.drawing import draw_answer
from giantstep.explore.figure import figure_paths, write_figure
from giantstep.explore.parameters import OVERLAPS
from giantstep.explore.project import make_figure_files, plan_figure, project_config
from giantstep.explore.tasks import Answer, ExportTask, Shown
from giantstep.explore.view import CURVE, View
from giantstep.figures import style
from giantstep.validation import Fault, InvalidParametersError
from giantstep.workflow.config import FIGURES, InvalidConfigError
from giantstep.workflow.config_models import NAME_PATTERN


def export(task: ExportTask, say: Say) -> None:
    """Make the file, and say its name, format and content; or write the figure, and say where.

    Raises
    ------
    InvalidParametersError
        For a name that is none, or taken; and for what the workflow would refuse.
    """
    if not re.fullmatch(NAME_PATTERN, task.name):
        allowed = "lower-case letters, digits and _, a letter first"
        raise InvalidParametersError([Fault("name", task.name, allowed)])
    try:
        with TemporaryDirectory() as folder:
            if task.form:
                content = file_of(task, Path(folder))
                say({"name": task.name, "format": task.form, "content": content})
            else:
                say(make_figure(task, Path(folder)))
    except InvalidConfigError as error:
        parts = [(fault.path, fault.problem.rpartition("must be ")) for fault in error.faults]
        faults = [Fault(path, value.strip(), allowed) for path, (value, _, allowed) in parts]
        raise InvalidParametersError(faults) from error


def file_of(task: ExportTask, folder: Path) -> bytes:
    """Return the content of a file of a format, which may be made in a folder."""
    shown, path = task.shown, folder / f"{task.name}.{task.form}"
    if task.form == "csv":
        as_table(shown).to_csv(path, index=False)
    elif shown.view.tab == CURVE:
        config = project_config(task.project)
        path = make_figure_files(folder, shown, task.name, config)[path.suffix]
    elif task.form == "nc":
        as_table(shown).to_xarray().to_netcdf(path, engine="netcdf4")
    else:
        with style.settings():
            style.save(draw_answer(shown.view, shown.answer), path)
    return path.read_bytes()


def as_table(shown: Shown) -> pd.DataFrame:
    """Return a row for each point that is drawn."""
    if "values" in shown.answer:
        x, y = np.meshgrid(shown.answer["x"], shown.answer["y"])
        columns = {
            shown.view.across: x,
            shown.view.up: y,
            shown.view.colour: shown.answer["values"],
        }
        return pd.DataFrame({name: np.ravel(values) for name, values in columns.items()})
    rows = pd.concat([_rows(shown.view, curve) for curve in shown.answer["curves"]])
    if "mean" in shown.simulated:
        found = shown.simulated
        networks = {"curve": "networks", shown.view.x: found["x"], "test_error": found["mean"]}
        more = {"test_error_stderr": found["stderr"], "z_score": found["z"]}
        rows = pd.concat([rows, pd.DataFrame(networks | more)])
    return rows


def _rows(view: View, curve: Answer) -> pd.DataFrame:
    columns: dict[str, Any] = {"curve": curve["name"] or "this question", "bulk": curve["bulk"]}
    columns[view.x if view.tab == CURVE else "x"] = curve["x"]
    for name in ("y", "density", "test_error", "training_error", "ridge", "residual"):
        if name in curve and np.shape(curve[name]) == np.shape(curve["x"]):
            columns.setdefault(name, curve[name])
    if view.tab == CURVE:
        for name in OVERLAPS:
            for k, column in enumerate(curve[name].T):
                columns[name if len(curve[name].T) == 1 else f"{name}_{k + 1}"] = column
        columns["quadrature_error"], columns["advice"] = curve["quadrature_error"], curve["advice"]
    return pd.DataFrame(columns)


def make_figure(task: ExportTask, folder: Path) -> str:
    """Write the YAML and the module of a figure into a project; a folder is for a trial.

    Raises
    ------
    InvalidParametersError
        For a name that is taken, and for what the workflow has no figure for.
    InvalidConfigError
        For what the workflow would refuse.
    """
    shown, project = task.shown, task.project
    if shown.view.tab != CURVE:
        allowed = "the learning curve, for a figure"
        raise InvalidParametersError([Fault("tab", shown.view.tab, allowed)])
    if not (project / FIGURES).is_dir():
        allowed = f"a project with a folder {FIGURES}: see giantstep init"
        raise InvalidParametersError([Fault("project", str(project), allowed)])
    if any(path.exists() for path in figure_paths(project, task.name)):
        raise InvalidParametersError([Fault("name", task.name, "a name that is not taken")])
    plan_figure(folder, shown, task.name, project_config(project))
    written, module = write_figure(project, shown.view, shown.networks, task.name)
    made = f"figures/{task.name}.pdf"
    return f"Written: {written} and {module.name}. Now: snakemake --cores all {made}"
