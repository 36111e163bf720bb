"""Figure 1: what the network has learned along the target, for growing first batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.curves import (
    heading,
    label,
    legend_beside,
    markers,
    panel_data,
    setting,
    written,
)
from giantstep.numerics.scalar_functions import lookup


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset, by its YAML."""
    panels = config["panels"]
    figure = Figure(figsize=style.size(columns=len(panels) + 0.55))
    for i, name in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), i + 1)
        shown = panel_data(data, name).isel(alpha_simulated=0)
        target = lookup(str(shown["target"].values[0]))
        s = data["s"].values
        fine = np.linspace(s[0], s[-1], 6001)  # so that a jump is drawn upright
        axes.plot(fine, target.value(fine), color="black", linestyle=style.DASHED, label="target")
        for k, look in enumerate(style.cycle(shown.sizes["curve"])):
            curve = shown.isel(curve=k)
            axes.plot([], [], label=label(shown, k), **look)
            axes.plot(s, curve["learned_function"], color=look["color"])
            markers(axes, curve["s_simulated"], curve, "learned_function", look)
        axes.set_xlabel(r"projection on the target $\theta \cdot x$")
        axes.set_ylabel(r"mean output $F(\theta \cdot x)$")
        alpha = written("alpha", f"{shown['alpha_simulated'].item():g}")
        heading(axes, i, f"{setting(shown)}, ${alpha}$")
    legend_beside(axes)
    return figure
