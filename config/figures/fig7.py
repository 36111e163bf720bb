"""Figure 7: functions of the projection on the spike that features span, by learning rate."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import shared_legend, title_panel
from giantstep.figures.labels import curve_label
from giantstep.figures.learning_curves import curve_looks

_FUNCTIONS = ("mu0", "kappa_mu1")


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure, panels = style.panels(len(_FUNCTIONS))
    for i, (axes, name) in enumerate(zip(panels, _FUNCTIONS, strict=True)):
        for k, look in enumerate(curve_looks(data)):
            strength = data["spike_strength"].values[k]
            label = f"{curve_label(data, k)}, $r = {strength:.2g}$"
            axes.plot(data["kappa"], data[name].isel(curve=k), color=look["color"], label=label)
        axes.set_xlabel(r"projection on the spike $\kappa$")
        title_panel(axes, i, f"${data[name].attrs['symbol']}$")
    shared_legend(panels[:1])
    return figure
