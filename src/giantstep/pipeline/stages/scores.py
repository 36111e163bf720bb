"""A table of a figure's curves: their parameters, and how far theory and simulation are apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from giantstep.pipeline.stages.comparison import DRAWN

# Coordinates of a curve that its row of scores repeats, where it has them.
_COLUMNS = (
    "activation", "target", "teacher", "learning_rate", "alpha0", "exponent", "dimension",
    "spike_strength", "bulk_variance", "alignment", "beta", "ridge", "noise", "outlier_fraction",
    "outlier_variance", "bulk", "loss", "steps", "reuse_batch",
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
    scores = [f"{size}_z_score_{drawn}" for drawn in DRAWN for size in ("largest", "mean")]
    outliers = ["outlier", "simulated_outlier_mean", "simulated_outlier_stderr"]
    if "simulated_outlier_mean" not in data:
        outliers = []
    columns = [name for name in ("curve", *_COLUMNS, *scores, *outliers) if name in data]
    return pd.DataFrame({
        name: [_cell(data[name].sel(curve=curve).values) for curve in data["curve"].values]
        for name in columns
    })  # fmt: skip


def _cell(values: Any) -> str:
    """Write a value, or those of all groups of neurons; missing values are left out."""
    several = np.atleast_1d(values)
    if several.dtype.kind in "OUT":
        return " ".join(map(str, several))
    return " ".join(f"{value:.4g}" for value in several if not np.isnan(value))
