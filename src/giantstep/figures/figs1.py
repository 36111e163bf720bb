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
    """Draw simulated over theoretical test error, less one, against the first batch's size.

    The band is where two typical standard errors reach.
    """
    noise = data["simulated_test_error_stderr"] / data["test_error"].isel(alpha=0)
    axes.axhspan(*(200 * noise.median().item() * np.array([-1, 1])), color="0.9", zorder=0)
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
        axes.errorbar(x, 100 * (mean - 1), 100 * stderr, **look)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel(r"first batch $\alpha_0 = n_0/d$")
    axes.set_ylabel("simulation over theory [%]")


def legend(figure: Figure, data: xr.Dataset) -> None:
    """Name the bulks, each with the mean of |z| over all protocols."""
    bulks = list(dict.fromkeys(data["bulk"].values))
    for bulk, look in zip(bulks, style.cycle(len(bulks)), strict=True):
        z = abs(data["z_score_test_error"].values[data["bulk"].values == bulk]).mean()
        label = f"{BULK_LABELS[bulk]}, mean $|z| = {z:.1f}$"
        figure.axes[0].errorbar([], [], [], label=label, **look)
    figure.legend(loc="outside upper center", ncols=len(bulks))


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
    legend(figure, data)
    return figure
