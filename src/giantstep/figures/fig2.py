"""Figure 2: test error against sample complexity, one curve for each size of the first batch."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.curves import (
    heading,
    learning_curves,
    legend_above,
    panel_data,
    setting,
)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset.

    Parameters
    ----------
    data : xarray.Dataset
        The contents of results/figures/fig2.nc.
    config : dict
        The figure's YAML: which panels there are, and their style.
    """
    panels = config["panels"]
    figure = Figure(figsize=style.size(columns=len(panels)))
    for i, (name, panel) in enumerate(panels.items()):
        axes = figure.add_subplot(1, len(panels), i + 1)
        shown = panel_data(data, name)
        learning_curves(axes, shown, config.get("style", {}).get("colours"))
        if panel.get("best_linear"):
            axes.axhline(
                shown["best_linear_error"].values[0],
                color="black",
                linestyle="--",
                linewidth=0.9,
                label="best linear",
            )
        heading(axes, i, setting(shown))
        legend_above(axes, columns=2)
    return figure
