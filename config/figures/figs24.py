"""Figure S24: what steps along several losses see of the third Hermite polynomial."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import (
    finite_size_line,
    legend_entry,
    legends_under,
    markers,
    ticks,
    title_panel,
)
from giantstep.figures.selection import in_limit, select

WORDS = {
    "square": "square",
    "huber:2": "Huber, δ = 2",
    "absolute": "absolute",
    "log_cosh": "log cosh",
}
# The second moment of He3.
POWER = 6


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure, (left, right) = style.panels(2)
    data = data.isel(alpha_simulated=0, alpha=0)
    errors = [name for name in data if "test_error" in str(name)]
    data = data.assign({name: data[name] / POWER for name in errors})
    right.axhline(1, **style.GUIDE)
    for loss, look in style.looks(list(WORDS)).items():
        curves = select(data, step_loss=loss).sortby("alpha0")
        alpha0 = curves["alpha0"]
        left.plot(alpha0, abs(in_limit(curves)["alignment"]), color=look["color"])
        finite_size_line(right, alpha0, curves, "test_error", look["color"])
        markers(right, alpha0, curves, "test_error", look)
        legend_entry(left, WORDS[loss], color=look["color"])
        legend_entry(right, WORDS[loss], **look, **style.FINITE_SIZE)
    left.set(xscale="log", ylabel=r"overlap $|\gamma|$", ylim=(-0.02, 1))
    right.set(xscale="log", ylabel="test error over that of zero")
    for axes in (left, right):
        axes.set_xlabel(r"first batch $\alpha_0$")
        ticks(axes, "x", (0.5, 2, 8, 32))
    title_panel(left, 0, "direction")
    title_panel(right, 1, "test error")
    legends_under((left, right))
    return figure
