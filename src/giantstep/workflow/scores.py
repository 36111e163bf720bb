"""Tables of a figure's curves: their parameters, and how far theory and simulation are apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from giantstep.arrays import Array
from giantstep.files import beside
from giantstep.questions.choices import FINITE
from giantstep.vocabulary import MEANINGS
from giantstep.workflow.comparison import DRAWN

# Dimensions of what a row of scores repeats of its curve.
_OF_CURVE = ("curve",), ("curve", "group")


def write_scores(data: xr.Dataset, table: str | Path, page: str | Path) -> None:
    """Write the scores of a figure as a table, and as a page of HTML for the workflow's report."""
    scores = score_table(data)
    with beside(Path(table)) as place:
        scores.to_csv(place, index=False, lineterminator="\n")
    filled = scores[[name for name in scores if scores[name].any()]]
    shown = (one.to_html(index=False, border=0) for one in (score_summary(data), filled))
    with beside(Path(page)) as place:
        place.write_text("\n".join(['<meta charset="utf-8">', *shown]), encoding="utf-8")


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
    scores = [f"{size}_z_score_{x}" for x in DRAWN for size in ("largest", "mean")]
    outliers = ["outlier", "simulated_outlier_mean", "simulated_outlier_stderr"]
    names = ["curve", *parameters, *scores, *outliers * ("simulated_outlier_mean" in data)]
    table: dict[str, list[str]] = {}
    for name in filter(data.__contains__, names):
        values = data[name]
        for one in values.transpose("theory", ...) if "theory" in values.dims else [values]:
            suffix = "_finite" if one.coords.get("theory") == FINITE else ""
            rows = np.atleast_2d(one.transpose(..., "curve")).T
            table[f"{name}{suffix}"] = [_cell(row) for row in rows]
    return pd.DataFrame(table)


def score_summary(data: xr.Dataset) -> pd.DataFrame:
    """Summarise the scores of a figure's curves.

    Parameters
    ----------
    data : xarray.Dataset
        From `merge.merge_figure`.

    Returns
    -------
    pandas.DataFrame
        A row of texts for each curve and drawn quantity: the largest and the mean z-score, against
        the theory of the limit and that of finite dimension.
    """
    table, parts = score_table(data).set_index("curve"), []
    for quantity in DRAWN:
        part = table.filter(regex=f"_z_score_{quantity}(_finite)?$")
        part = part[part.any(axis=1)]
        titles = (name.replace(f"_z_score_{quantity}", " z") for name in part)
        part.columns = [title.replace("_finite", ", finite d") for title in titles]
        part.insert(0, "quantity", quantity)
        parts.append(part)
    return pd.concat(parts).fillna("").reset_index()


def _cell(of_groups: Array) -> str:
    """Write the values of all groups of neurons, or the one value; missing values are left out."""
    if of_groups.dtype.kind in "OUT":
        return " ".join(map(str, of_groups))
    return " ".join(f"{value:.4g}" for value in of_groups if not np.isnan(value))
