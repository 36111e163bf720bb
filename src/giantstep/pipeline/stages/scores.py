"""A table of a figure's curves: their parameters, and how far theory and simulation are apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from giantstep.pipeline.stages.comparison import DRAWN, SCORED
from giantstep.pipeline.stages.finite_size import finite_size_name

# Coordinates of a curve that its row of scores repeats, where it has them.
_COLUMNS = (
    "activation", "target", "teacher", "learning_rate", "step_exponent", "alpha0", "exponent",
    "dimension", "spike_strength", "bulk_variance", "alignment", "beta", "ridge", "noise",
    "outlier_fraction", "outlier_variance", "bulk", "loss", "steps", "reuse_batch",
)  # fmt: skip

_PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font: 14px sans-serif; background: white }}
td, th {{ padding: 2px 10px 2px 0; text-align: left; white-space: nowrap }}
thead {{ border-bottom: 1px solid }}
table {{ border-collapse: collapse }}
</style>
<h1>{title}</h1>
<p>A z-score is the simulated mean minus the theory, over the standard error. Without "finite", the
theory is that of the paper, for a dimension that grows without bound and an isotropic bulk; with
it, that of the dimension of the simulations and of the bulk that the step leaves.</p>
{tables}</html>
"""


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
        blanks.
    """
    scores = [f"{size}_z_score_{drawn}" for drawn in SCORED for size in ("largest", "mean")]
    outliers = ["outlier", finite_size_name("outlier")]
    outliers += ["simulated_outlier_mean", "simulated_outlier_stderr"]
    if "simulated_outlier_mean" not in data:
        outliers = []
    columns = [name for name in ("curve", *_COLUMNS, *scores, *outliers) if name in data]
    return pd.DataFrame({
        name: [_cell(data[name].sel(curve=curve).values) for curve in data["curve"].values]
        for name in columns
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
            row = {"panel": panel, "quantity": drawn}
            for name, column in ((drawn, ""), (finite_size_name(drawn), ", finite d")):
                for size in ("largest", "mean"):
                    row[f"{size} z{column}"] = _of_curves(lines, f"{size}_z_score_{name}")
            if row["largest z"]:
                rows.append(row)
    return pd.DataFrame(rows)


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
    return _PAGE.format(title=title, tables=shown)


def _of_curves(lines: xr.Dataset, score: str) -> str:
    """Write a score of each line; what all ridges of a curve share is written once."""
    if score not in lines:
        return ""
    curves: dict[str, list[str]] = {}
    for name, value in zip(lines["curve"].values.tolist(), lines[score].values, strict=True):
        if np.isfinite(value):
            curves.setdefault(name.partition(",ridge=")[0], []).append(f"{value:.1f}")
    shared = (values[:1] if len(set(values)) == 1 else values for values in curves.values())
    return ", ".join(value for values in shared for value in values)


def _cell(values: Any) -> str:
    """Write a value, or those of all groups of neurons; missing values are left out."""
    several = np.atleast_1d(values)
    if several.dtype.kind in "OUT":
        return " ".join(map(str, several))
    return " ".join(f"{value:.4g}" for value in several if not np.isnan(value))
