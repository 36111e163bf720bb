"""Figure 8: eigenvalues of the features' covariance: the bulk and the outliers."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import legend_above, title_panel
from giantstep.figures.selection import panel_data

BINS = 50
HISTOGRAM, DENSITY = style.COLOURS[5], style.COLOURS[0]


def bulk(axes: Axes, curve: xr.Dataset) -> None:
    """Draw the theoretical density of ln x over a histogram of simulated eigenvalues."""
    x = curve["eigenvalue"].values
    ends = np.geomspace(0.8 * np.nanmin(x), 1.25 * np.nanmax(x), BINS + 1)
    values = curve["simulated_eigenvalue"].values
    values = values[np.isfinite(values)]
    weights = np.full(values.size, 1 / (values.size * np.log(ends[1] / ends[0])))
    axes.hist(
        values, bins=list(ends), weights=weights, color=HISTOGRAM, alpha=0.6, label="simulated"
    )
    axes.plot(x, x * curve["density"], color=DENSITY, label="theory")
    axes.set_xscale("log")
    axes.set_xlim(ends[0], ends[-1])
    axes.set_ylim(bottom=0)
    axes.set_xlabel(r"eigenvalue $x$ of $\Phi^\top\Phi$")


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
    places[0].set_ylabel(r"density of $\ln x$, $x\,\rho(x)$")
    legend_above(places[0], columns=1)
    outliers(places[-1], curves)
    title_panel(places[-1], len(panels), "outliers")
    return figure
