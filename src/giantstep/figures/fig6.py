"""Figure 6: learning curves for initial readouts with several values, and their bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import (
    finite_size_line,
    legend_above,
    legend_entry,
    markers,
    title_panel,
)
from giantstep.figures.labels import TEST_ERROR, format_parameter
from giantstep.figures.learning_curves import learning_panel


def bounds(axes: Axes, data: xr.Dataset) -> None:
    """Draw the bounds, and the error at the largest alpha, against the number of letters."""
    letters = data["fraction"].notnull().sum("group").values
    for name, bound in style.BOUNDS.items():
        axes.plot(letters, data[name], marker="_", label=data[name].attrs["equation"], **bound)
    last = data.isel(alpha_simulated=-1)
    theory = data.sel(alpha=last["alpha_simulated"].item())
    look: dict[str, Any] = {"color": style.COLOURS[0], "marker": style.MARKERS[0]}
    alpha = format_parameter("alpha", last["alpha_simulated"].item())
    legend_entry(axes, f"${alpha}$", **look)
    axes.plot(letters, theory["test_error"], color=look["color"])
    finite_size_line(axes, letters, theory, "test_error", look["color"])
    markers(axes, letters, last, "test_error", look)
    axes.set_xticks(np.unique(letters))
    axes.set_xlabel("letters of the vocabulary")
    axes.set_ylabel(TEST_ERROR)
    title_panel(axes, 1, "at the largest sample complexity")
    legend_above(axes, columns=3)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure = Figure(figsize=style.size(columns=2))
    left, right = figure.subplots(1, 2)
    learning_panel(left, data, config, next(iter(config["panels"])), 0)
    bounds(right, data)
    return figure
