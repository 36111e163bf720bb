"""Files of what is shown: drawings as the workflow makes them, tables, netCDF, new figures."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from giantstep.explore.children import Say
from giantstep.explore.figure import figure_paths, write_figure
from giantstep.explore.parameters import OVERLAPS
from giantstep.explore.project import make_figure_files, plan_figure, project_config
from giantstep.explore.tasks import Answer, ExportTask, Shown
from giantstep.explore.view import CURVE, FUNCTION, MAP, SPECTRUM, View
from giantstep.figures.answers import draw_answer
from giantstep.problems.formatting import format_problem
from giantstep.problems.targets import target_along
from giantstep.validation import refusal
from giantstep.vocabulary import label
from giantstep.workflow.config import FIGURES
from giantstep.workflow.config_models import NAME_PATTERN


def export(task: ExportTask, say: Say) -> None:
    """Make the file, and say its name, format and content; or write the figure, and say where.

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
        if task.form:
            content = file_of(task, Path(folder))
            say({"name": task.name, "format": task.form, "content": content})
        else:
            say(make_figure(task, Path(folder)))


def file_of(task: ExportTask, folder: Path) -> bytes:
    """Return the content of a file of a format, which may be made in a folder."""
    shown, path = task.shown, folder / f"{task.name}.{task.form}"
    if task.form == "csv":
        as_table(shown).to_csv(path, index=False)
    elif shown.view.tab == CURVE:
        config = shown.simulated.get("config") or project_config(task.project)
        path = make_figure_files(folder, shown, task.name, config)[path.suffix]
    elif task.form == "nc":
        as_dataset(shown).to_netcdf(path, engine="netcdf4")
    else:
        draw_answer(as_dataset(shown), path, shown.view.variable)
    return path.read_bytes()


def as_table(shown: Shown) -> pd.DataFrame:
    """Return a row for each point that is drawn."""
    view, answer = shown.view, shown.answer
    if view.tab == MAP:
        y, x = np.meshgrid(answer["y"], answer["x"], indexing="ij")
        columns = {view.up: y, view.across: x, view.variable: answer["values"]}
        return pd.DataFrame({name: np.ravel(values) for name, values in columns.items()})
    parts = [_rows(view, curve) for curve in answer["curves"]]
    if measured := shown.simulated:
        networks = {"curve": "networks", view.x: measured["x"], "test_error": measured["mean"]}
        more = {"test_error_stderr": measured["stderr"], "z_score": measured["z"]}
        parts.append(pd.DataFrame(networks | more))
    return pd.concat(parts)


def as_dataset(shown: Shown) -> xr.Dataset:
    """Return what is drawn of a learned function, a spectrum or a map as the library has it."""
    view, table = shown.view, as_table(shown)
    index = {FUNCTION: "s", SPECTRUM: "point"}.get(view.tab)
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
    columns: dict[str, Any] = {"curve": curve["name"] or "this question", "bulk": curve["bulk"]}
    if view.tab == FUNCTION:
        return pd.DataFrame(columns | {"s": curve["x"], "learned_function": curve["y"]})
    if view.tab == SPECTRUM:
        points = {"point": range(1, curve["x"].size + 1), "eigenvalue": curve["x"]}
        return pd.DataFrame(columns | points | {"density": curve["density"]})
    columns[view.x] = curve["x"]
    for name in dict.fromkeys((view.by, "test_error", "training_error", "ridge", "residual")):
        columns.setdefault(name, curve[name])
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
        raise refusal("tab", shown.view.tab, "the learning curve, for a figure")
    if not (project / FIGURES).is_dir():
        allowed = f"a project with a folder {FIGURES}: see giantstep init"
        raise refusal("project", str(project), allowed)
    if any(path.exists() for path in figure_paths(project, task.name)):
        raise refusal("name", task.name, "a name that is not taken")
    plan_figure(folder, shown, task.name, project_config(project))
    written, module = write_figure(project, shown.view, shown.networks, task.name)
    made = f"figures/{task.name}.pdf"
    return f"Written: {written} and {module.name}. Now: snakemake --cores all {made}"
