"""Figure S22: readouts that stop early beside those with a ridge."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import legend_entry, legends_under, markers, title_panel
from giantstep.figures.labels import TEST_ERROR, format_parameter
from giantstep.figures.selection import at_dimension, distinct, select

STEPS = {0: "no step", 4: r"one step, $\alpha_0 = 4$"}
LINES = {"stopped": "-", "ridge": ":"}


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure, places = style.panels(2)
    data = data.isel(alpha_simulated=0, alpha=0)
    for index, (axes, noise) in enumerate(zip(places, distinct(data, "noise"), strict=True)):
        for alpha0, look in style.looks(list(STEPS)).items():
            for panel, line in LINES.items():
                curve = select(data, noise=noise, alpha0=alpha0, panel=panel).sortby("ridge")
                time, theory = 1 / curve["ridge"], at_dimension(curve, "test_error")
                axes.plot(time, theory, line, color=look["color"])
                best = int(np.argmin(theory.values))
                axes.plot(time[best], theory[best], color=look["color"], **style.STAR)
                if panel == "stopped":
                    markers(axes, time, curve, "test_error", look)
            legend_entry(axes, STEPS[alpha0], **look)
        for panel, line in zip(("stopped at $t$", r"ridge $1/t$"), LINES.values(), strict=True):
            axes.plot([], [], line, color="black", label=panel)
        axes.set(xscale="log", yscale="log", xlabel="time $t$, or $1/\\lambda$")
        title_panel(axes, index, f"${format_parameter('noise', noise)}$")
    places[0].set_ylabel(TEST_ERROR)
    legends_under(places)
    return figure
