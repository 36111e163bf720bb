"""Figure S25: averages over networks, through the peak of double descent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import error_bars, legend_entry, legends_under, ticks
from giantstep.figures.labels import TEST_ERROR

MEASURED = Path(__file__).with_name("figs25.csv")
WORDS = {
    "1": "one network",
    "2": "two",
    "8": "eight",
    "inf": "infinitely many",
    "best": "one, best ridge",
}


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its table."""
    figure, (axes,) = style.panels(1)
    curves = pd.read_csv(MEASURED, dtype={"curve": str}).groupby("curve")
    for (curve, words), look in zip(WORDS.items(), style.cycle(len(WORDS)), strict=True):
        rows = curves.get_group(curve)
        axes.plot(rows["x"], rows["theory"], color=look["color"])
        axes.plot(rows["x"], rows["finite"], color=look["color"], **style.FINITE_SIZE)
        error_bars(axes, rows["x"], rows["mean"], rows["stderr"], look)
        legend_entry(axes, words, **look)
    axes.set(xscale="log", yscale="log", xlabel=r"$\alpha = n/d$", ylabel=TEST_ERROR)
    ticks(axes, "x", (0.2, 0.5, 1, 2, 5))
    ticks(axes, "y", (0.05, 0.1, 0.2, 0.3))
    legends_under((axes,))
    return figure
