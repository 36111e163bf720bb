"""Figure 8: eigenvalues of the features' covariance: the bulk and the outliers."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import finite_size_entry, has_finite_size, legend_above, title_panel
from giantstep.figures.selection import panel_data
from giantstep.figures.spectra import HISTOGRAM, histogram
from giantstep.pipeline.stages.finite_size import finite_size_name

DENSITY = style.COLOURS[0]


def bulk(axes: Axes, curve: xr.Dataset) -> None:
    """Draw the theoretical density of ln x over a histogram of simulated eigenvalues."""
    x = curve["eigenvalue"].values
    histogram(axes, curve, x)
    axes.plot(x, x * curve["density"], color=DENSITY, label="theory")


def outliers(axes: Axes, panels: list[xr.Dataset]) -> None:
    """Draw the eigenvalues of order d, divided by d, of every panel."""
    for place, curve in enumerate(panels):
        dimension = curve.sizes["index"] / curve["beta"].item()
        # At this dimension an eigenvalue of order d may still lie within the bulk.
        apart = curve["outlier"] * dimension > np.nanmax(curve["eigenvalue"].values)
        shown = curve.isel(rank=np.flatnonzero(apart.values))
        mean, stderr = (shown[f"simulated_outlier_{part}"] for part in ("mean", "stderr"))
        look: dict[str, Any] = {"color": HISTOGRAM, "linestyle": "none", "marker": "o"}
        axes.errorbar(np.full(mean.size, place), mean, stderr, **look)
        axes.hlines(shown["outlier"], place - 0.35, place + 0.35, color=DENSITY, zorder=3)
        if has_finite_size(shown, "outlier"):
            at_dimension = shown[finite_size_name("outlier")]
            axes.hlines(at_dimension, place - 0.35, place + 0.35, DENSITY, **style.FINITE_SIZE)
        if not mean.size:
            axes.text(place, 0.5, "none", ha="center", transform=axes.get_xaxis_transform())
    axes.set_yscale("log")
    axes.set_xlim(-0.5, len(panels) - 0.5)
    axes.set_xticks(range(len(panels)), [f"({chr(ord('a') + k)})" for k in range(len(panels))])
    axes.set_ylim(1e-3, 2)
    axes.set_ylabel(r"outlier $x/d$")


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML: the first curve of every panel."""
    panels = config["panels"]
    curves = [panel_data(data, name).isel(curve=0) for name in panels]
    figure = Figure(figsize=style.size(columns=2))
    widths = [3] * len(panels) + [2]
    places = figure.subplots(1, len(panels) + 1, width_ratios=widths)
    for i, ((name, panel), curve) in enumerate(zip(panels.items(), curves, strict=True)):
        bulk(places[i], curve)
        title_panel(places[i], i, panel.get("title", name))
    finite_size_entry(places[0], data, "outlier")
    places[0].set_ylabel(r"density of $\ln x$, $x\,\rho(x)$")
    legend_above(places[0], columns=1)
    outliers(places[-1], curves)
    title_panel(places[-1], len(panels), "outliers")
    return figure
