"""Files of what is shown: drawings as the workflow makes them, tables, netCDF, new figures."""

from __future__ import annotations

import base64
import re
from mimetypes import MimeTypes
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from giantstep.explore.children import Say
from giantstep.explore.figure import figure_paths, write_figure
from giantstep.explore.project import make_figure_files, plan_figure, project_config
from giantstep.explore.tasks import Answer, ExportTask
from giantstep.explore.view import CURVE, FUNCTION, MAP, SPECTRUM, View
from giantstep.figures.answers import draw_answer
from giantstep.problems.formatting import format_problem
from giantstep.problems.targets import target_along
from giantstep.validation import refusal
from giantstep.vocabulary import label
from giantstep.workflow.config import FIGURES
from giantstep.workflow.config_models import NAME_PATTERN


def export(task: ExportTask, say: Say) -> None:
    """Make the file and say it, as the page takes it; or write the figure, and say where.

    Raises
    ------
    InvalidParametersError
        For a name that is none, or taken.
    InvalidConfigError
        For what the workflow would refuse.
    """
    if not re.fullmatch(NAME_PATTERN, task.name):
        raise refusal("name", task.name, "lower-case letters, digits and _, a letter first")
    with TemporaryDirectory() as folder:
        if not task.form:
            say({"exported": make_figure(task, Path(folder))})
            return
        name = f"{task.name}.{task.form}"
        content = base64.b64encode(file_of(task, Path(folder) / name)).decode()
    kind = MimeTypes().guess_type(name)[0]  # Python's own, on any machine
    say({"file": {"name": name, "type": kind, "content": content}})


def file_of(task: ExportTask, path: Path) -> bytes:
    """Return the content of a file of a format, which may be made at a path."""
    if task.form == "csv":
        as_table(task).to_csv(path, index=False)
    elif task.view.tab == CURVE:
        config = task.simulated.get("config") or project_config(task.project)
        path = make_figure_files(path.parent, task, config)[path.suffix]
    elif task.form == "nc":
        as_dataset(task).to_netcdf(path, engine="netcdf4")
    else:
        draw_answer(as_dataset(task), path, task.view.variable)
    return path.read_bytes()


def as_table(task: ExportTask) -> pd.DataFrame:
    """Return a row for each point that is drawn."""
    view, answer = task.view, task.answer
    if view.tab == MAP:
        axes = {view.up: answer["y"], view.across: answer["x"]}
        cells = xr.DataArray(answer["values"], axes, name=view.variable)
        return cells.to_dataframe().reset_index()
    parts = [_rows(view, curve) for curve in answer["curves"]]
    if measured := task.simulated:
        networks = {"curve": "networks", view.x: measured["x"], "test_error": measured["mean"]}
        more = {"test_error_stderr": measured["stderr"], "z_score": measured["z"]}
        parts.append(pd.DataFrame(networks | more))
    return pd.concat(parts)


def as_dataset(task: ExportTask) -> xr.Dataset:
    """Return what is drawn of a learned function, a spectrum or a map as the library has it."""
    view, table = task.view, as_table(task)
    index = {FUNCTION: "s", SPECTRUM: "point"}.get(view.tab)
    if index == "point":
        table[index] = table.groupby(["curve", "bulk"]).cumcount() + 1
    indices = ["curve", "bulk", index] if index else [view.up, view.across]
    data = label(table.set_index(indices).to_xarray())
    if index:  # in the order of the page, not sorted
        data = data.reindex(curve=table["curve"].unique(), bulk=table["bulk"].unique())
    if view.tab == FUNCTION:
        target = target_along(view.question["target"], data["s"].values)
        data["target_function"] = "s", target
    if not view.pins:  # or there are several
        data.attrs["problem"] = format_problem(view.question.problem)
    return data


def _rows(view: View, curve: Answer) -> pd.DataFrame:
    """Return a row for each point of a curve: all that it has at points, by the library's names."""
    columns: dict[str, Any] = {"curve": curve["name"] or "this question", "bulk": curve["bulk"]}
    along = {FUNCTION: "s", SPECTRUM: "eigenvalue"}.get(view.tab, view.x)
    names = {"x": along, "y": "learned_function"}
    for name, array in curve.items():
        if np.shape(array)[:1] != curve["x"].shape:
            continue
        groups = np.reshape(array, (len(array), -1)).T
        for k, column in enumerate(groups, start=1):
            suffix = f"_{k}" if len(groups) > 1 else ""
            columns[names.get(name, name) + suffix] = column
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
    project = task.project
    if task.view.tab != CURVE:
        raise refusal("tab", task.view.tab, "the learning curve, for a figure")
    if not (project / FIGURES).is_dir():
        allowed = f"a project with a folder {FIGURES}: see giantstep init"
        raise refusal("project", str(project), allowed)
    if any(path.exists() for path in figure_paths(project, task.name)):
        raise refusal("name", task.name, "a name that is not taken")
    plan_figure(folder, task, project_config(project))
    written = write_figure(project, task.view, task.networks, task.name)
    made = f"figures/{task.name}.pdf"
    return f"Written: {' and '.join(map(str, written))}. Now: snakemake --cores all {made}"
