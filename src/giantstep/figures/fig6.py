"""Figure 6: learning curves for initial readouts with several values, and their bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import (
    bars,
    legend_above,
    legend_entry,
    markers,
    title_panel,
)
from giantstep.figures.labels import BOUND_LABELS, TEST_ERROR, shared_setting
from giantstep.figures.learning_curves import learning_panel
from giantstep.figures.selection import at_dimension, in_limit

# The width of the bars of the theory, in letters.
_BAR = 0.5


def bounds(axes: Axes, data: xr.Dataset) -> None:
    """Draw the bounds, and the error at the largest alpha, against the number of letters."""
    letters = data["fraction"].notnull().sum("group").values
    for name, bound in style.BOUNDS.items():
        bars(axes, letters, data[name], _BAR, **bound)
        legend_entry(axes, BOUND_LABELS[name], **bound)
    last = data.isel(alpha_simulated=-1)
    theory = data.sel(alpha=last["alpha_simulated"].item())
    look = style.look(style.COLOURS[0])
    legend_entry(axes, "test error", **look)
    bars(axes, letters, in_limit(theory)["test_error"], _BAR, color=look["color"])
    if (errors := at_dimension(theory, "test_error")) is not None:
        bars(axes, letters, errors, _BAR, color=look["color"], **style.FINITE_SIZE)
    markers(axes, letters, last, "test_error", look)
    axes.set(xticks=np.unique(letters), xlim=(0.5, letters.max() + 0.5))
    axes.set(xlabel="values in the vocabulary of the readout", ylabel=TEST_ERROR)
    title_panel(axes, 1, shared_setting(data, alpha=last["alpha_simulated"].item()))
    legend_above(axes, columns=2)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure, (left, right) = style.panels(2)
    learning_panel(left, data, config, next(iter(config["panels"])), 0)
    bounds(right, data)
    return figure
