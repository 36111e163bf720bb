"""Figure 8: spectrum of the features' covariance, bulk and outlier, theory over a histogram."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.curves import heading, panel_data

BINS = 60
HISTOGRAM, DENSITY = style.COLOURS[5], style.COLOURS[0]


def bulk(axes: Axes, curve: xr.Dataset) -> None:
    """Draw the density of the bulk over a histogram of the simulated eigenvalues."""
    end = 1.05 * np.nanmax(curve["eigenvalue"].values)
    values = curve["simulated_eigenvalue"].values.ravel()
    inside = values[(values > 1e-9) & (values < end)]
    weights = np.full(inside.size, BINS / (end * np.isfinite(values).sum()))
    axes.hist(inside, bins=BINS, range=(0, end), weights=weights, color=HISTOGRAM, alpha=0.6)
    axes.plot(curve["eigenvalue"], curve["density"], color=DENSITY)
    axes.set_xlim(0, end)
    axes.set_xlabel(r"eigenvalue $x$ of $\Phi^\top\Phi$")


def outlier(axes: Axes, curve: xr.Dataset) -> None:
    """Draw the eigenvalues of order d, over d: simulated as dots, predicted as lines."""
    dimension = curve.sizes["index"] / curve["beta"].item()
    edge = np.nanmax(curve["eigenvalue"].values) / dimension
    # One that lies within the bulk at this dimension is none yet.
    predicted = curve["outlier"].values[curve["outlier"].values > edge]
    largest = np.sort(curve["simulated_eigenvalue"].values)[:, ::-1] / dimension
    for place, value in enumerate(predicted):
        axes.axhline(value, color=DENSITY)
        found = largest[:, place]
        axes.plot(np.linspace(0.2, 0.8, found.size), found, ".", color=HISTOGRAM, zorder=3)
    if not predicted.size:
        axes.text(0.5, 0.5, "none", ha="center", va="center", transform=axes.transAxes)
    axes.set_xlim(0, 1)
    axes.set_xticks([])
    axes.set_yscale("log")
    axes.set_ylim(edge, 2)
    axes.set_ylabel(r"outlier $x/d$")


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset, by its YAML."""
    panels = config["panels"]
    figure = Figure(figsize=style.size(columns=len(panels)))
    widths = [3, 1] * len(panels)
    places = figure.subplots(1, 2 * len(panels), width_ratios=widths)
    for i, (name, panel) in enumerate(panels.items()):
        curve = panel_data(data, name).isel(curve=0)
        bulk(places[2 * i], curve)
        outlier(places[2 * i + 1], curve)
        heading(places[2 * i], i, panel.get("title", name))
    places[0].set_ylabel(r"density $\rho(x)$")
    return figure
