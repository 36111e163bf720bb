"""Figure S7: networks on inputs that are not Gaussian approach the theory of Gaussian ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import (
    error_bars,
    legend_entry,
    markers,
    shared_legend,
    ticks,
    title_panel,
)
from giantstep.figures.labels import RELATIVE_GAP, SAMPLE_COMPLEXITY, TEST_ERROR, format_parameter
from giantstep.figures.selection import in_limit, panel_data, relative_gap, select

_STUDENT = "student_t:"
# Markers of different inputs are shifted by multiples of this.
_OFFSET = 0.02


def input_label(inputs: str) -> str:
    """Name a distribution in the legend."""
    if inputs.startswith(_STUDENT):
        return rf"Student-t, $\nu = {inputs.removeprefix(_STUDENT)}$"
    return "Rademacher" if inputs == "rademacher" else inputs.capitalize()


def learning(axes: Axes, data: xr.Dataset, looks: dict[str, style.Look]) -> None:
    """Draw the theory, which is the same for all inputs, and simulations with each of them."""
    first = data.isel(curve=0)
    for inputs, look in looks.items():
        legend_entry(axes, input_label(inputs), linestyle="none", **look)
    axes.plot(first["alpha"], first["test_error"], color="black", label="theory")
    for i, inputs in enumerate(data["inputs"].values):
        curve = data.isel(curve=i)
        x = curve["alpha_simulated"] + _OFFSET * (i - (len(looks) - 1) / 2)
        markers(axes, x, curve, "test_error", looks[inputs])
    axes.set(xlabel=SAMPLE_COMPLEXITY, ylabel=TEST_ERROR)


def gaps(axes: Axes, data: xr.Dataset, looks: dict[str, style.Look]) -> None:
    """Draw the relative gap between networks and theory against the dimension."""
    last = data.isel(alpha_simulated=-1)
    last = last.sel(alpha=last["alpha_simulated"].item())
    axes.axhline(0, **style.GUIDE)
    for i, (inputs, look) in enumerate(looks.items()):
        curves = select(last, inputs=inputs)
        x = curves["dimension"].values * np.exp(2 * _OFFSET * (i - (len(looks) - 1) / 2))
        error_bars(axes, x, *relative_gap(curves), look)
    axes.set_xscale("log")
    ticks(axes, "x", np.unique(data["dimension"].values))
    axes.set(xlabel="dimension $d$", ylabel=RELATIVE_GAP)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    inputs = dict.fromkeys(data["inputs"].values)
    looks = dict(zip(inputs, reversed(style.cycle(len(inputs))), strict=True))  # dark: heavy tails
    data = in_limit(data)
    figure, (left, right) = style.panels(2)
    shown = panel_data(data, "d1000")
    learning(left, shown, looks)
    title_panel(left, 0, f"${format_parameter('dimension', 1000)}$")
    gaps(right, data, looks)
    alpha = format_parameter("alpha", data["alpha_simulated"].values[-1])
    title_panel(right, 1, f"${alpha}$")
    shared_legend((left,))
    return figure
