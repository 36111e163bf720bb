"""Outliers of spectra over the bulk, against a parameter: where they leave it is a transition."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from giantstep.figures import style


def draw_outliers(axes: Axes, data: xr.Dataset, along: str) -> None:
    """Draw eigenvalues at the dimension of the answer; in the limit, those of order d over d.

    Parameters
    ----------
    axes : Axes
    data : xarray.Dataset
        Of `spectrum`, for several values of one parameter.
    along : str
        That parameter.
    """
    x, size = data[along].values, data["dimension"].broadcast_like(data[along]).values
    limit = bool(np.all(np.isinf(size)))
    if not limit:
        lows, highs = (data[f"bulk_{end}_edge"].transpose(..., along) for end in ("lower", "upper"))
        for k, (low, high) in enumerate(zip(lows.values, highs.values, strict=True)):
            axes.fill_between(x, low, high, label="" if k else "bulk", **style.BULK)
    for k, outlier in enumerate(data["outlier"].transpose(..., along).values):
        label = "outlier" if data.sizes["rank"] == 1 else f"outlier {k + 1}"
        axes.plot(x, outlier if limit else outlier * size, color=style.COLOURS[k], label=label)
    axes.set(yscale="log", ylabel=r"outlier $x/d$" if limit else "eigenvalue $x$")
