"""Figure S11: the features' spectrum before and after the step, isotropic and trained."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
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
    legend_entry,
    shared_legend,
    title_panel,
)
from giantstep.figures.labels import BULK_LABELS, format_parameter
from giantstep.figures.selection import distinct, in_limit, panel_data, select

_SPECTRA = run_path(str(Path(__file__).with_name("fig8.py")))
histogram = _SPECTRA["histogram"]
_LINES: dict[str, dict[str, Any]] = {
    bulk: {"color": colour} for bulk, colour in style.BULK_COLOURS.items()
}
# The width of the bars of the theory, over the first batch.
_BAR = 0.4
_DENSITIES = ("before", "small", "large")


def bulks(axes: Axes, curves: xr.Dataset) -> None:
    """Draw the density of ln x for each model of the bulk, over simulated eigenvalues."""
    histogram(axes, curves.isel(curve=0), curves["eigenvalue"].values, label="networks")
    for bulk in distinct(curves, "bulk"):
        curve = select(curves, bulk=bulk).isel(curve=0)
        x = curve["eigenvalue"]
        axes.plot(x, x * curve["density"], **_LINES[bulk])


def largest(curve: xr.Dataset) -> float:
    """Find where half an eigenvalue of the simulated number is expected above, in the bulk."""
    x, density = (curve[name].dropna("point").values for name in ("eigenvalue", "density"))
    above = np.cumsum((np.diff(x) * (density[1:] + density[:-1]) / 2)[::-1])[::-1]
    return float(np.interp(-0.5 / curve.sizes["index"], -above, x[:-1]))


def simulated_largest(curve: xr.Dataset) -> Array:
    """Select the largest eigenvalue of each network below the outliers."""
    values: Array = np.sort(curve["simulated_eigenvalue"].dropna("network").values, axis=-1)
    return values[:, -1 - curve.sizes["rank"]]


def edges(axes: Axes, data: xr.Dataset) -> None:
    """Draw the largest eigenvalue of the bulk against the size of the first batch."""
    axes.set_xscale("log", base=2)
    for bulk in distinct(data, "bulk"):
        curves = select(data, bulk=bulk).sortby("alpha0")
        each = [curves.isel(curve=i) for i in range(curves.sizes["curve"])]
        bars(axes, curves["alpha0"], [largest(curve) for curve in each], _BAR, **_LINES[bulk])
    tops = np.array([simulated_largest(curve) for curve in each])
    stderr = tops.std(axis=1, ddof=1) / np.sqrt(tops.shape[1])
    error_bars(axes, curves["alpha0"], tops.mean(axis=1), stderr, style.look("black"))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set(xlabel=r"first batch $\alpha_0 = n_0/d$", ylabel="eigenvalue")


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    panels = config["panels"]
    data = in_limit(data)
    figure, places = style.panels(4)
    for i, name in enumerate(_DENSITIES):
        shown = panel_data(data, name)
        bulks(places[i], shown)
        title_panel(places[i], i, _title(shown, panels[name]))
        places[i].set_ylabel(r"density of $\ln x$, $x\,\rho(x)$")
    shown = panel_data(data, "edges")
    edges(places[-1], shown)
    title_panel(places[-1], len(_DENSITIES), _title(shown, panels["edges"]))
    for bulk, line in _LINES.items():
        legend_entry(places[0], BULK_LABELS[bulk], **line)
    entry = style.look("black") | {"linestyle": "none"}
    legend_entry(places[0], "mean of networks", **entry)
    shared_legend(places[:1])
    return figure


def _title(shown: xr.Dataset, panel: dict[str, Any]) -> str:
    batch = shown["alpha0"].values
    one = f", ${format_parameter('alpha0', batch[0])}$" if len(set(batch)) == 1 else ""
    return f"{panel['title']}{one}"
