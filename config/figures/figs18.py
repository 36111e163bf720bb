"""Figure S18: relu from a readout of plus and minus one, after each step."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import (
    finite_size_and_networks,
    legends_under,
    ticks,
    title_panel,
)
from giantstep.figures.labels import BEST_LINEAR, TEST_ERROR
from giantstep.figures.selection import select

WORDS = {"1:1": "readout 1", "-1:0.5 1:0.5": "readout ±1"}
TARGETS = {"sign": r"$\mathrm{sign}(z)$", "polynomial:-0.5,1,0.5": r"$z + (z^2 - 1)/2$"}


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure, places = style.panels(len(TARGETS))
    data = data.isel(alpha_simulated=0, alpha=0)
    for i, (target, title) in enumerate(TARGETS.items()):
        axes, solved = places[i], select(data, target=target)
        for readout, look in style.looks(list(WORDS)).items():
            curves = select(solved, readout=readout).sortby("steps")
            finite_size_and_networks(axes, curves, "steps", look, WORDS[readout])
        linear = float(solved["best_linear_error"].values[0])
        axes.axhline(linear, label=BEST_LINEAR, **style.REFERENCE)
        axes.set(xlabel="steps", ylabel=TEST_ERROR, ylim=(0, None))
        ticks(axes, "x", solved["steps"].values)
        title_panel(axes, i, title)
    legends_under(places)
    return figure
