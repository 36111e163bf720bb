"""Figure S27: the best learning rate in units of the width."""

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
from giantstep.figures.labels import TEST_ERROR

MEASURED = Path(__file__).with_name("figs27.csv")
RATE = r"$\tilde\eta/\beta$"


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its table."""
    figure, (left, right) = style.panels(2)
    table = dict(tuple(pd.read_csv(MEASURED, dtype={"curve": str}).groupby("panel")))
    widths = dict(tuple(table["error"].groupby("curve")))
    for beta, look in style.looks(map(float, widths)).items():
        rows = widths[f"{beta:g}"]
        left.plot(rows["x"], rows["theory"], color=look["color"])
        left.plot(rows["x"], rows["finite"], color=look["color"], **style.FINITE_SIZE)
        error_bars(left, rows["x"], rows["mean"], rows["stderr"], look)
        legend_entry(left, rf"$\beta = {beta:g}$", **look)
    for (curve, rows), look in zip(
        table["best"].groupby("curve", sort=False), style.cycle(5), strict=True
    ):
        words = curve if "steps" in curve else rf"$\alpha_0 = {curve}$"
        right.plot(rows["x"], rows["theory"], label=words, color=look["color"])
    left.set(xscale="log", yscale="log", xlabel=f"learning rate {RATE}", ylabel=TEST_ERROR)
    right.set(xscale="log", yscale="log", xlabel=r"width $\beta$", ylabel=f"best {RATE}")
    ticks(left, "x", (0.5, 1, 2, 4, 8, 16))
    left.set_ylim(0.075, 0.2)
    ticks(left, "y", (0.08, 0.1, 0.15, 0.2))
    ticks(right, "x", (0.25, 0.5, 1, 2, 4, 8))
    ticks(right, "y", (1, 2, 3, 4, 5))
    title_panel(left, 0, "three widths")
    title_panel(right, 1, "best rates")
    legends_under((left, right))
    return figure
