"""Figure 6: learning curves for initial readouts with several values, and their bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import bars, legend_entry, legends_under, title_panel
from giantstep.figures.labels import BOUND_LABELS, TEST_ERROR
from giantstep.figures.learning_curves import learning_panel
from giantstep.figures.selection import in_limit, panel_data

# The width of bars, in values of a readout, and of bounds, which are seen beside them.
_BAR, _BOUND = 0.5, 0.8
_AT_ONE_RIDGE: dict[str, Any] = {"linewidth": 1.2}
_AT_BEST: dict[str, Any] = {"linewidth": 3.5}


def at_best_ridge(axes: Axes, data: xr.Dataset) -> None:
    """Draw bounds and errors at the largest alpha, for each number of values of the readout."""
    counts = data["fraction"].notnull().sum("group").values
    last = in_limit(data).isel(alpha=-1)
    for name, bound in style.BOUNDS.items():
        bars(axes, counts, data[name], _BOUND, **bound)
        legend_entry(axes, BOUND_LABELS[name], **bound)
    for k, look in enumerate(style.cycle(counts.size)):
        count, errors, colour = counts[k : k + 1], last.isel(curve=[k]), look["color"]
        bars(axes, count, errors["test_error"], _BAR, color=colour, **_AT_ONE_RIDGE)
        bars(axes, count, errors["optimal_test_error"], _BAR / 2, color=colour, **_AT_BEST)
    ridge = data["ridge"].values[0]
    legend_entry(axes, rf"$\lambda = {ridge:g}$", color="black", **_AT_ONE_RIDGE)
    legend_entry(axes, "best ridge", color="black", **_AT_BEST)
    axes.set(xticks=np.unique(counts), xlim=(0.5, counts.max() + 0.5))
    axes.set(xlabel="number of values of the readout", ylabel=TEST_ERROR)
    title_panel(axes, 1, rf"$\alpha = {last['alpha'].item():g}$")
    axes.set_ylim(bottom=0)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure, (left, right) = style.panels(2)
    learning_panel(left, data, config, next(iter(config["panels"])), 0)
    title_panel(left, 0, "learning curves")
    at_best_ridge(right, panel_data(data, "best"))
    legends_under((left, right))
    return figure
