"""Figure 6: vocabularies of the initial readout, and the bounds of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.curves import heading, learning_panel, legend_above, markers


def bounds(axes: Axes, data: xr.Dataset) -> None:
    """Draw the bounds, and the error at the largest sample complexity, against the letters."""
    letters = data["fraction"].notnull().sum("group").values
    for name, colour, line in (
        ("upper_bound", style.COLOURS[2], style.DASHED),
        ("lower_bound", style.COLOURS[4], style.DOTTED),
    ):
        equation = data[name].attrs["equation"]
        axes.plot(letters, data[name], color=colour, linestyle=line, marker="_", label=equation)
    last = data.isel(alpha_simulated=-1)
    theory = data["test_error"].sel(alpha=last["alpha_simulated"].item())
    look: dict[str, Any] = {"color": style.COLOURS[0], "marker": style.MARKERS[0]}
    axes.plot([], [], label=rf"$\alpha = {last['alpha_simulated'].item():g}$", **look)
    axes.plot(letters, theory, color=look["color"])
    markers(axes, letters, last, "test_error", look)
    axes.set_xticks(np.unique(letters))
    axes.set_xlabel("letters of the vocabulary")
    axes.set_ylabel(r"test error $\epsilon_g$")
    heading(axes, 1, "at the largest sample complexity")
    legend_above(axes, columns=3)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset, by its YAML."""
    figure = Figure(figsize=style.size(columns=2))
    left, right = figure.subplots(1, 2)
    learning_panel(left, data, config, next(iter(config["panels"])), 0)
    bounds(right, data)
    return figure
