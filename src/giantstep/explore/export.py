"""Files of what is shown: drawings as the pipeline makes them, tables, netCDF, new figures."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from giantstep.explore.children import Say
from giantstep.explore.drawing import draw_answer
from giantstep.explore.figure import as_text, drawing_of, figure_config, figure_data
from giantstep.explore.symbols import OVERLAPS
from giantstep.explore.tasks import Answer, ExportTask, Shown
from giantstep.explore.view import CURVE, View
from giantstep.figures import style
from giantstep.pipeline.planning.config import FIGURES, InvalidConfigError
from giantstep.pipeline.planning.config_models import NAME_PATTERN
from giantstep.validation import Fault, InvalidParametersError


def export(task: ExportTask, say: Say) -> None:
    """Make the file, and say its content; or write the figure, and say where.

    Raises
    ------
    InvalidParametersError
    """
    try:
        say(make_figure(task) if task.name else file_of(task.shown, task.form))
    except InvalidConfigError as error:
        faults = [Fault(f.path, "", f.problem.removeprefix("must be ")) for f in error.faults]
        raise InvalidParametersError(faults) from error


def file_of(shown: Shown, form: str) -> bytes:
    """Return the content of a file of a format."""
    if form == "csv":
        text: str = as_table(shown).to_csv(index=False)
        return text.encode()
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"explored.{form}"
        if form == "nc":
            as_dataset(shown).to_netcdf(path, engine="netcdf4")
        else:
            _draw(shown, path)
        return path.read_bytes()


def _draw(shown: Shown, path: Path) -> None:
    view = shown.view
    with style.settings():
        if view.tab == CURVE:
            config = figure_config(view, shown.networks)
            picture = drawing_of(view)[0](_data(shown, config), config)
        else:
            picture = draw_answer(view, shown.answer)
        style.save(picture, path)


def _data(shown: Shown, config: dict[str, Any]) -> xr.Dataset:
    return figure_data(config, shown.networks, shown.simulated.get("replicates", []))


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
            flat = curve["overlaps"][name].reshape(curve["x"].size, -1)
            for k, column in enumerate(flat.T):
                columns[name if flat.shape[1] == 1 else f"{name}_{k + 1}"] = column
        columns["quadrature_error"], columns["advice"] = curve["quadrature_error"], curve["advice"]
    return pd.DataFrame(columns)


def as_dataset(shown: Shown) -> xr.Dataset:
    """Return the data as the pipeline merges them; what it does not know, as in the table."""
    if shown.view.tab == CURVE:
        return _data(shown, figure_config(shown.view, shown.networks))
    table: xr.Dataset = as_table(shown).to_xarray()
    return table


def make_figure(task: ExportTask) -> str:
    """Write the YAML and the module of a figure into a project.

    Raises
    ------
    InvalidParametersError
        For a name that is none, or taken; and for what the workflow has no figure for.
    """
    view, folder = task.shown.view, task.project / FIGURES
    if not re.fullmatch(NAME_PATTERN, task.name):
        allowed = "lower-case letters, digits and _, a letter first"
        raise InvalidParametersError([Fault("name", task.name, allowed)])
    if view.tab != CURVE:
        raise InvalidParametersError([Fault("tab", view.tab, "the learning curve, for a figure")])
    if not folder.is_dir():
        allowed = f"a project with a folder {FIGURES}: see giantstep init"
        raise InvalidParametersError([Fault("project", str(task.project), allowed)])
    paths = folder / f"{task.name}.yaml", folder / f"{task.name}.py"
    if any(path.exists() for path in paths):
        raise InvalidParametersError([Fault("name", task.name, "a name that is not taken")])
    config = figure_config(view, task.shown.networks)
    _data(task.shown, config)  # refuses what the workflow would
    for path, text in zip(paths, (as_text(config), drawing_of(view)[1]), strict=True):
        path.write_text(text, encoding="utf-8")
    made = f"figures/{task.name}.pdf"
    return f"Written: {paths[0]} and {paths[1].name}. Now: snakemake --cores all {made}"
