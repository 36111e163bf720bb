"""Figure S19: a step by the signs of the gradient beside one of the same length along it."""

from __future__ import annotations

import math
from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import (
    finite_size_and_networks,
    legend_entry,
    legends_under,
    ticks,
    title_panel,
)
from giantstep.figures.labels import TEST_ERROR
from giantstep.figures.selection import in_limit, select

WORDS = {"sgd": "along the gradient", "sign": "by its signs"}


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure, (left, right) = style.panels(2)
    data = data.isel(alpha_simulated=0, alpha=0)
    for optimizer, look in style.looks(list(WORDS)).items():
        curves = select(data, optimizer=optimizer).sortby("alpha0")
        left.plot(curves["alpha0"], in_limit(curves)["alignment"], color=look["color"])
        legend_entry(left, WORDS[optimizer], color=look["color"])
        finite_size_and_networks(right, curves, "alpha0", look, WORDS[optimizer])
    left.axhline(math.sqrt(2 / math.pi), label=r"$\sqrt{2/\pi}$", **style.GUIDE)
    left.set(xscale="log", ylabel=r"overlap $\gamma$", ylim=(0, 1))
    right.set(xscale="log", yscale="log", ylabel=TEST_ERROR)
    for axes in (left, right):
        axes.set_xlabel(r"first batch $\alpha_0$")
        ticks(axes, "x", (0.25, 1, 4, 16, 64))
    ticks(right, "y", (0.03, 0.05, 0.1, 0.2))
    title_panel(left, 0, "direction")
    title_panel(right, 1, "test error")
    legends_under((left, right))
    return figure
