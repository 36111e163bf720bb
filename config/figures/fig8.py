"""Figure 8: eigenvalues of the features' covariance: the bulks, and the outliers above them."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.arrays import Array
from giantstep.figures import style
from giantstep.figures.elements import (
    bars,
    error_bars,
    finite_size_entry,
    legend_entry,
    shared_legend,
    title_panel,
)
from giantstep.figures.selection import at_dimension, in_limit, panel_data, simulated

# Colours of densities, and of histograms of simulated eigenvalues.
DENSITY, HISTOGRAM = style.COLOURS[0], style.COLOURS[5]
_BINS = 50
# The width of bars, in panels.
_BAR = 0.6


def histogram(axes: Axes, curve: xr.Dataset, x: Array, label: str = "simulated") -> None:
    """Draw simulated eigenvalues as a density of ln x, on an axis that holds the bulk at x."""
    ends = np.geomspace(0.8 * np.nanmin(x), 1.25 * np.nanmax(x), _BINS + 1)
    values = curve["simulated_eigenvalue"].values
    values = values[np.isfinite(values)]
    weights = np.full(values.size, 1 / (values.size * np.log(ends[1] / ends[0])))
    axes.hist(values, bins=list(ends), weights=weights, color=HISTOGRAM, alpha=0.6, label=label)
    axes.set(xscale="log", xlim=(ends[0], ends[-1]), ylim=(0, None))
    axes.set_xlabel(r"eigenvalue $x$ of $\Phi^\top\Phi$")


def bulk(axes: Axes, curve: xr.Dataset) -> None:
    """Draw the theoretical density of ln x over a histogram of simulated eigenvalues."""
    x = curve["eigenvalue"].values
    histogram(axes, curve, x)
    axes.plot(x, x * curve["density"], color=DENSITY, label="theory")


def outliers(axes: Axes, panels: list[xr.Dataset]) -> None:
    """Draw the bulk of every panel as a bar, and its eigenvalues of order d above it."""
    for place, curve in enumerate(panels):
        dimension = curve.sizes["index"] / curve["beta"].item()
        low, high = (edge(curve["eigenvalue"].values) for edge in (np.nanmin, np.nanmax))
        axes.bar(place, high - low, _BAR, low, color=HISTOGRAM, alpha=0.6)
        # At this dimension an eigenvalue of order d may still lie within the bulk.
        apart = in_limit(curve)["outlier"] * dimension > high
        shown = curve.isel(rank=np.flatnonzero(apart.values))
        mean, stderr = (dimension * values for values in simulated(shown, "outlier"))
        at = np.full(mean.size, place)
        bars(axes, at, dimension * in_limit(shown)["outlier"], _BAR, color=DENSITY)
        if (finite := at_dimension(shown, "outlier")) is not None:
            bars(axes, at, dimension * finite, _BAR, color=DENSITY, **style.FINITE_SIZE)
        error_bars(axes, at, mean, stderr, style.look(style.COLOURS[2]))
    axes.set(yscale="log", xlim=(-0.5, len(panels) - 0.5), ylabel="eigenvalue $x$")
    axes.set_ylim(bottom=0.5 * min(float(curve["eigenvalue"].min()) for curve in panels))
    axes.set_xticks(range(len(panels)), [f"({chr(ord('a') + k)})" for k in range(len(panels))])


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML: the first curve of every panel."""
    panels = config["panels"]
    curves = [panel_data(data, name).isel(curve=0) for name in panels]
    figure, places = style.panels(len(panels) + 1)
    top = max(float((curve["eigenvalue"] * curve["density"]).max()) for curve in curves)
    ends = [edge(data["eigenvalue"].values) for edge in (np.nanmin, np.nanmax)]
    for i, ((name, panel), curve) in enumerate(zip(panels.items(), curves, strict=True)):
        bulk(places[i], curve)
        places[i].set(xlim=(0.7 * ends[0], 1.4 * ends[1]), ylim=(0, 1.1 * top))
        places[i].set_ylabel(r"$x\,\rho(x)$")
        title_panel(places[i], i, panel.get("title", name))
    finite_size_entry(places[0], data, "outlier")
    legend_entry(places[0], "simulated outlier", linestyle="none", **style.look(style.COLOURS[2]))
    shared_legend(places[:1])
    outliers(places[-1], curves)
    title_panel(places[-1], len(panels), "bulks and outliers")
    return figure
