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
