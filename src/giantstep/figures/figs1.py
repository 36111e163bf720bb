"""Figure S1: how far simulated networks are from the theory, for each bulk that it may take."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.curves import BULK_LABELS, heading, panel_data, setting

# How far apart, in shares of their distance, the markers of different bulks stand.
_OFFSET = 0.02


def gaps(axes: Axes, data: xr.Dataset) -> None:
    """Draw simulated over theoretical test error, less one, against the first batch's size."""
    axes.axhline(0, color="black", linewidth=0.6)
    bulks = list(dict.fromkeys(data["bulk"].values))
    for i, (bulk, look) in enumerate(zip(bulks, style.cycle(len(bulks)), strict=True)):
        chosen = data.isel(curve=np.flatnonzero(data["bulk"].values == bulk))
        chosen = chosen.sortby("alpha0").isel(alpha=0, alpha_simulated=0)
        mean, stderr = (
            chosen[f"simulated_test_error_{part}"] / chosen["test_error"]
            for part in ("mean", "stderr")
        )
        x = chosen["alpha0"] * np.exp(_OFFSET * (2 * i - len(bulks) + 1))
        axes.errorbar(x, 100 * (mean - 1), 100 * stderr, label=BULK_LABELS[bulk], **look)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel(r"first batch $\alpha_0 = n_0/d$")
    axes.set_ylabel("simulation over theory [%]")


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset, by its YAML."""
    names = list(config["panels"])
    rows = -(-len(names) // 2)
    figure = Figure(figsize=style.size(2, rows))
    places = figure.subplots(rows, 2, sharex=True, sharey=True, squeeze=False).ravel()
    for i, name in enumerate(names):
        shown = panel_data(data, name)
        gaps(places[i], shown)
        heading(places[i], i, setting(shown))
        places[i].label_outer()
    places[0].legend()
    return figure
