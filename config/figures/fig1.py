"""Figure 1: the function of the target direction that networks have learned, by first batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import (
    legends_under,
    theory_and_networks,
    theory_entries,
    title_panel,
)
from giantstep.figures.labels import curve_label, panel_setting
from giantstep.figures.learning_curves import curve_looks
from giantstep.figures.selection import panel_data
from giantstep.numerics.scalar_functions import lookup


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure, places = style.panels(len(config["panels"]))
    for i, (axes, name) in enumerate(zip(places, config["panels"], strict=True)):
        shown = panel_data(data, name).isel(alpha_simulated=0)
        target = lookup(str(shown["target"].values[0]))
        s = data["s"].values
        fine = np.linspace(s[0], s[-1], 6001)  # so that jumps are vertical
        axes.plot(fine, target.value(fine), label="target", **style.TARGET)
        for k, look in enumerate(curve_looks(shown)):
            curve, label = shown.isel(curve=k), curve_label(shown, k)
            theory_and_networks(axes, curve, "learned_function", look, label, along="s")
        theory_entries(axes, shown, "learned_function")
        axes.set_xlabel(r"projection on the target $\theta \cdot x$")
        axes.set_ylabel(r"mean output $F(\theta \cdot x)$")
        title_panel(axes, i, panel_setting(shown, data))
    legends_under(places)
    return figure
