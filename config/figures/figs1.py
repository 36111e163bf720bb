"""Figure S1: gap between networks and theory, for each model of the first layer's bulk."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import error_bars, title_panel
from giantstep.figures.labels import BULK_LABELS, RELATIVE_GAP, panel_setting
from giantstep.figures.selection import in_limit, panel_data, relative_gap, select

# Markers of different bulks are shifted by multiples of this, in the logarithm.
_OFFSET = 0.02


def bulk_looks(bulks: Iterable[str]) -> dict[str, style.Look]:
    """Return colour and marker of each bulk, where it is what sets curves apart."""
    markers = zip(dict.fromkeys(bulks), style.MARKERS, strict=False)
    return {bulk: style.look(style.BULK_COLOURS[bulk], marker) for bulk, marker in markers}


def gaps(axes: Axes, data: xr.Dataset) -> None:
    """Draw the relative gap of the test error against the size of the first batch.

    The band is two typical standard errors to each side.
    """
    noise = data["simulated_test_error_stderr"] / data["test_error"].isel(alpha=0)
    axes.axhspan(*(200 * noise.median().item() * np.array([-1, 1])), color="0.93", zorder=0)
    axes.axhline(0, **style.GUIDE)
    looks = bulk_looks(data["bulk"].values)
    for i, (bulk, look) in enumerate(looks.items()):
        curves = select(data, bulk=bulk).sortby("alpha0").isel(alpha=0, alpha_simulated=0)
        x = curves["alpha0"] * np.exp(_OFFSET * (2 * i - len(looks) + 1))
        error_bars(axes, x, *relative_gap(curves), look)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set(xlabel=r"first batch $\alpha_0 = n_0/d$", ylabel=RELATIVE_GAP)


def legend(figure: Figure, data: xr.Dataset) -> None:
    """Name the bulks, each with its mean |z| over all protocols."""
    for bulk, look in bulk_looks(data["bulk"].values).items():
        z = abs(select(data, bulk=bulk)["z_score_test_error"].values).mean()
        label = f"{BULK_LABELS[bulk]}, mean $|z| = {z:.1f}$"
        error_bars(figure.axes[0], [], [], [], look, label=label)
    figure.axes[0].fill([], [], color="0.93", label="two typical standard errors")
    figure.legend(loc="outside upper center", ncols=1)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    names = list(config["panels"])
    data = in_limit(data)
    figure, places = style.panels(len(names), more_height=0.5, sharex=True, sharey=True)
    for i, name in enumerate(names):
        shown = panel_data(data, name)
        gaps(places[i], shown)
        title_panel(places[i], i, panel_setting(shown, data))
        places[i].label_outer()
    legend(figure, data)
    return figure
