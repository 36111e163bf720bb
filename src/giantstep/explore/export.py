"""Files of what is shown: drawings and numbers of the library's answer, and new figures."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import xarray as xr

from giantstep.explore.answers import MAP_SIDE
from giantstep.explore.children import Say
from giantstep.explore.copying import request_of
from giantstep.explore.figure import figure_files
from giantstep.explore.parameters import Axis
from giantstep.explore.project import project_config
from giantstep.explore.tasks import MOST_HOURS, ExportTask
from giantstep.explore.view import CURVE, MAP, POINTS, axis_values
from giantstep.figures.answers import draw_answer
from giantstep.progress import Progress
from giantstep.questions.product import answer_each
from giantstep.questions.task import question_named
from giantstep.validation import refusal
from giantstep.vocabulary import label
from giantstep.workflow.config import FIGURES
from giantstep.workflow.config_models import NAME_PATTERN
from giantstep.workflow.plan import make_plan

# The curve that is no pin.
_OWN = "this question"


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
        path = Path(folder) / f"{task.name}.{task.form}"
        _write(task, path)
        content = base64.b64encode(path.read_bytes()).decode()
    say({"file": {"name": path.name, "content": content}})


def _write(task: ExportTask, path: Path) -> None:
    data, name = answered(task), task.view.variable
    if task.form == "csv":  # a row for each point that is drawn
        dims = [str(dim) for dim in data[name].dims]
        at_points = data[[k for k in data if set(data[k].dims) <= set(dims)]]
        table = at_points.to_dataframe(dim_order=dims).dropna(subset=[name])
        table.reset_index().to_csv(path, index=False)
    elif task.form == "nc":
        data.to_netcdf(path, engine="netcdf4")
    else:
        draw_answer(data, path, name)


def answered(task: ExportTask) -> xr.Dataset:
    """Ask the library for what is shown: each pin is a curve, as is each bulk."""
    view, simulated = task.view, task.simulated
    points = MAP_SIDE if view.tab == MAP else POINTS
    drawn = view.questions[: 1 if view.tab == MAP else None]
    curves = {name or _OWN: one for name, one in drawn if view.tab != CURVE or one.has(view.x)}

    def ask(chosen: Mapping[str, Any], report: Progress) -> xr.Dataset:
        question = curves[chosen["curve"]]
        function, given = request_of(view, question)
        given = {k: axis_values(x, points) if isinstance(x, Axis) else x for k, x in given.items()}
        given["bulk"] = [*question["bulk"]][: 1 if view.tab == MAP else None]
        if task.networks:
            given[view.x] = np.union1d(given[view.x], simulated["x"])
            given["dimension"] = [math.inf, float(task.networks.dimension)]
        return question_named(function)(question.problem, **given, max_hours=MOST_HOURS)

    data, _ = answer_each({"curve": list(curves)}, lambda chosen: partial(ask, chosen))
    if task.networks:
        data = _beside(data, task)
    if view.tab == MAP:
        data = data.transpose("curve", "bulk", view.up, view.across, ...)
    if view.pins:  # there are several
        del data.attrs["problem"]
    return label(data)


def _beside(data: xr.Dataset, task: ExportTask) -> xr.Dataset:
    """Put networks beside their theory, as `compare` does."""
    names = {"mean": "simulated_test_error_mean", "stderr": "simulated_test_error_stderr"}
    values = {new: (("curve", task.view.x), [task.simulated[old]]) for old, new in names.items()}
    networks = xr.Dataset(values, {"curve": [_OWN], task.view.x: task.simulated["x"]})
    data = data.rename(dimension="theory").assign_coords(theory=["limit", "finite"])
    everywhere = networks.reindex({name: data[name] for name in networks.coords})
    return data.assign(everywhere).assign_coords(dimension=task.simulated["dimension"])


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
    files = figure_files(task.view, task.networks, task.name)
    if any((project / path).exists() for path in files):
        raise refusal("name", task.name, "a name that is not taken")
    (folder / FIGURES).mkdir(parents=True)
    for path, text in files.items():
        (folder / path).write_text(text, encoding="utf-8")
    make_plan(folder, project_config(project) | {"figures": [task.name]})
    copytree(folder, project, dirs_exist_ok=True)
    made = f"figures/{task.name}.pdf"
    return f"Written: {' and '.join(files)}. Now: snakemake --cores all {made}"
