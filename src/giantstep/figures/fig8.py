"""Figure 8: eigenvalues of the features' covariance: the bulk and the outliers."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import (
    HISTOGRAM,
    bars,
    error_bars,
    finite_size_entry,
    histogram,
    title_panel,
)
from giantstep.figures.labels import format_parameter, shared_setting
from giantstep.figures.selection import at_dimension, in_limit, panel_data, simulated

DENSITY = style.COLOURS[0]
# The width of the bars of the theory, in panels.
_BAR = 0.7


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
        apart = in_limit(curve)["outlier"] * dimension > np.nanmax(curve["eigenvalue"].values)
        shown = curve.isel(rank=np.flatnonzero(apart.values))
        mean, stderr = simulated(shown, "outlier")
        at = np.full(mean.size, place)
        bars(axes, at, in_limit(shown)["outlier"], _BAR, color=DENSITY)
        if (finite := at_dimension(shown, "outlier")) is not None:
            bars(axes, at, finite, _BAR, color=DENSITY, **style.FINITE_SIZE)
        error_bars(axes, at, mean, stderr, style.look(HISTOGRAM))
        if not mean.size:
            axes.text(place, 0.5, "none", ha="center", transform=axes.get_xaxis_transform())
    axes.set(yscale="log", xlim=(-0.5, len(panels) - 0.5))
    axes.set_xticks(range(len(panels)), [f"({chr(ord('a') + k)})" for k in range(len(panels))])
    axes.set(ylim=(1e-3, 2), ylabel=r"outlier $x/d$")


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML: the first curve of every panel."""
    panels = config["panels"]
    curves = [panel_data(data, name).isel(curve=0) for name in panels]
    figure = Figure(figsize=style.size(columns=2))
    widths = [3] * len(panels) + [2]
    places = figure.subplots(1, len(panels) + 1, width_ratios=widths)
    common = shared_setting(data, alpha=config["spectrum"]["alpha"])
    for i, ((name, panel), curve) in enumerate(zip(panels.items(), curves, strict=True)):
        bulk(places[i], curve)
        title_panel(places[i], i, ", ".join([panel.get("title", name), *_features(panel)]))
    finite_size_entry(places[0], data, "outlier")
    places[0].set_ylabel(r"density of $\ln x$, $x\,\rho(x)$")
    handles, labels = places[0].get_legend_handles_labels()
    look = {"ncols": len(labels), "title_fontsize": 8}
    figure.legend(handles, labels, loc="outside upper center", title=common, **look)
    outliers(places[-1], curves)
    title_panel(places[-1], len(panels), "outliers")
    return figure


def _features(panel: dict[str, Any]) -> list[str]:
    """Write what sets the features of a panel apart."""
    parts = [format_parameter(name, panel[name]) for name in ("spike_strength", "bulk_variance")]
    if "readout" in panel:
        pairs = panel["readout"].items()
        parts.append(format_parameter("readout", " ".join(f"{v}:{share}" for v, share in pairs)))
    return [f"${part}$" for part in parts]
