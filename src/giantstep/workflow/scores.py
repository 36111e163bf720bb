"""Tables of a figure's curves: their parameters, and how far theory and simulation are apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from giantstep.arrays import Array
from giantstep.vocabulary import MEANINGS
from giantstep.workflow import store
from giantstep.workflow.arrangement import FINITE, LIMIT
from giantstep.workflow.comparison import DRAWN

# Dimensions of what a row of scores repeats of its curve.
_OF_CURVE = ("curve",), ("curve", "group")
_SIZES = ("largest", "mean")
_SUFFIXES = {LIMIT: "", FINITE: ", finite d"}

_PAGE = Path(__file__).with_suffix(".html")


def write_scores(data: xr.Dataset, table: str | Path, page: str | Path) -> None:
    """Write the scores of a figure as a table, and as a page of HTML."""
    text = score_table(data).to_csv(index=False, lineterminator="\n")
    store.write_bytes(Path(table), text.encode())
    store.write_bytes(Path(page), score_page(data).encode())


def score_table(data: xr.Dataset) -> pd.DataFrame:
    """List each curve's parameters, and how far its theory and simulation are apart.

    Parameters
    ----------
    data : xarray.Dataset
        From `merge.merge_figure`.

    Returns
    -------
    pandas.DataFrame
        A row of texts for each curve; the parameters of several groups of neurons are separated by
        blanks. What is of the theory at finite dimension ends in `_finite`.
    """
    parameters = [x for x in MEANINGS if x in data.coords and data[x].dims in _OF_CURVE]
    scores = [f"{size}_z_score_{x}" for x in DRAWN for size in _SIZES]
    names = ["curve", *parameters, *scores]
    if "simulated_outlier_mean" in data:
        names += ["outlier", "simulated_outlier_mean", "simulated_outlier_stderr"]
    columns = {
        name if theory == LIMIT else f"{name}_{theory}": values
        for name in names
        if name in data
        for theory, values in _theories(data[name])
    }
    return pd.DataFrame({
        name: [_cell(row) for row in np.atleast_2d(values.transpose(..., "curve")).T]
        for name, values in columns.items()
    })  # fmt: skip


def score_summary(data: xr.Dataset) -> pd.DataFrame:
    """Summarise the scores of a figure's curves.

    Parameters
    ----------
    data : xarray.Dataset
        From `merge.merge_figure`.

    Returns
    -------
    pandas.DataFrame
        A row of texts for each panel and drawn quantity. Its largest and mean z-scores, against
        the theory of the limit and that of finite dimension, are those of the panel's curves, in
        their order.
    """
    rows = []
    for panel in dict.fromkeys(data["panel"].values.tolist()):
        lines = data.isel(curve=np.flatnonzero(data["panel"].values == panel))
        for drawn in DRAWN:
            scores = {
                f"{size} z{_SUFFIXES[theory]}": _of_curves(values)
                for size in _SIZES
                for theory, values in _theories(lines.get(f"{size}_z_score_{drawn}"))
            }
            if any(scores.values()):
                rows.append({"panel": panel, "quantity": drawn} | scores)
    columns = [f"{size} z{suffix}" for suffix in _SUFFIXES.values() for size in _SIZES]
    return pd.DataFrame(rows, columns=["panel", "quantity", *columns], dtype=object).fillna("")


def score_page(data: xr.Dataset) -> str:
    """Write the scores of a figure as a page of HTML, for the workflow's report.

    Parameters
    ----------
    data : xarray.Dataset
        From `merge.merge_figure`.

    Returns
    -------
    str
        The summary of the scores, and the table of all curves without its empty columns.
    """
    curves = score_table(data)
    curves = curves[[name for name in curves if curves[name].any()]]
    curves.columns = [str(name).replace("_", " ") for name in curves]
    tables = {"Summary": score_summary(data), "Curves": curves}
    title = data.attrs["title"].replace("&", "&amp;").replace("<", "&lt;")
    shown = "".join(
        f"<h2>{name}</h2>\n{table.to_html(index=False, border=0)}\n"
        for name, table in tables.items()
        if len(table)
    )
    return _PAGE.read_text("utf-8").format(title=title, tables=shown)


def _theories(values: xr.DataArray | None) -> list[tuple[str, xr.DataArray]]:
    """Split a variable by the theory; what has none belongs to the limit's columns."""
    if values is None:
        return []
    if "theory" not in values.dims:
        return [(LIMIT, values)]
    return [(name, values.sel(theory=name)) for name in values["theory"].values.tolist()]


def _of_curves(scores: xr.DataArray) -> str:
    """Write a score of each line; what all ridges of a curve share is written once."""
    curves: dict[str, list[str]] = {}
    for name, value in zip(scores["curve"].values.tolist(), scores.values, strict=True):
        if np.isfinite(value):
            curves.setdefault(name.partition(",ridge=")[0], []).append(f"{value:.1f}")
    shared = (values[:1] if len(set(values)) == 1 else values for values in curves.values())
    return ", ".join(value for values in shared for value in values)


def _cell(of_groups: Array) -> str:
    """Write the values of all groups of neurons, or the one value; missing values are left out."""
    if of_groups.dtype.kind in "OUT":
        return " ".join(map(str, of_groups))
    return " ".join(f"{value:.4g}" for value in of_groups if not np.isnan(value))
