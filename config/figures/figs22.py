"""Figure S22: readouts that stop early beside those with a ridge."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import (
    legend_entry,
    legends_under,
    markers,
    ticks,
    title_panel,
)
from giantstep.figures.labels import TEST_ERROR, format_parameter
from giantstep.figures.selection import at_dimension, distinct, select

STEPS = {0: "no step", 4: r"one step, $\alpha_0 = 4$"}
LOOKS = {0: style.look(style.NO_STEP), 4: style.look(style.COLOURS[0], "s")}
# A wide dashed line in a pale colour is seen beneath a thin one.
WIDTHS: dict[str, Any] = {"stopped": {}, "ridge": {"linewidth": 1.4}}
# So is a large star beneath a small one.
STARS: dict[str, Any] = {"stopped": {}, "ridge": {"markersize": 11}}


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure, places = style.panels(2, sharey=True)
    data = data.isel(alpha_simulated=0, alpha=0)
    for index, (axes, noise) in enumerate(zip(places, distinct(data, "noise"), strict=True)):
        for alpha0, look in LOOKS.items():
            pale = look["markerfacecolor"]
            for panel, colour in (("ridge", pale), ("stopped", look["color"])):
                curve = select(data, noise=noise, alpha0=alpha0, panel=panel).sortby("ridge")
                time, theory = 1 / curve["ridge"], at_dimension(curve, "test_error")
                axes.plot(time, theory, color=colour, **style.FINITE_SIZE | WIDTHS[panel])
                best = int(np.argmin(theory.values))
                axes.plot(time[best], theory[best], color=colour, **style.STAR | STARS[panel])
                if panel == "stopped":
                    markers(axes, time, curve, "test_error", look)
            legend_entry(axes, STEPS[alpha0], **look, **style.FINITE_SIZE)
        legend_entry(axes, "ridge $1/t$", color="0.7", **style.FINITE_SIZE | WIDTHS["ridge"])
        axes.set(xscale="log", yscale="log", xlabel="time $t$, or $1/\\lambda$")
        ticks(axes, "y", (0.1, 0.2, 0.5, 1, 2))
        title_panel(axes, index, f"${format_parameter('noise', noise)}$")
    places[0].set_ylabel(TEST_ERROR)
    legends_under(places)
    return figure
