"""Figure S26: three steps with rates that fall or rise, and batches that shrink or grow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import (
    error_bars,
    legend_entry,
    legends_under,
    ticks,
    title_panel,
)

MEASURED = Path(__file__).with_name("figs26.csv")
WORDS = {"sin 6": "sine, 6", "sin 24": "sine, 24", "sign 12": "sign, 12"}
PANELS = {
    "rates": ("rates", "ratio of rates, one step to the next"),
    "batches": ("batches", "ratio of batches, one step to the next"),
}


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its table."""
    figure, places = style.panels(2)
    table = pd.read_csv(MEASURED)
    for i, (axes, (panel, (title, along))) in enumerate(zip(places, PANELS.items(), strict=True)):
        axes.axhline(1, **style.GUIDE)
        for curve, look in style.looks(list(WORDS)).items():
            rows = table[(table["panel"] == panel) & (table["curve"] == curve)]
            some = rows.dropna()
            axes.plot(rows["x"], rows["theory"], color=look["color"])
            axes.plot(some["x"], some["finite"], color=look["color"], **style.FINITE_SIZE)
            error_bars(axes, some["x"], some["mean"], some["stderr"], look)
            legend_entry(axes, WORDS[curve], **look)
        axes.set(xscale="log", xlabel=along, ylabel="error over that of equal steps")
        axes.set_ylim(0.9, 2.9)
        ticks(axes, "x", (0.35, 0.5, 0.7, 1, 1.4, 2, 2.8))
        title_panel(axes, i, title)
    legends_under(places)
    return figure
