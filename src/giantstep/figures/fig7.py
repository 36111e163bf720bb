"""Figure 7: functions of the projection on the spike that features span, by learning rate."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import legend_beside, title_panel
from giantstep.figures.labels import curve_label, shared_setting

_FUNCTIONS = ("mu0", "kappa_mu1")


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure = Figure(figsize=style.size(columns=2.45))
    panels = figure.subplots(1, len(_FUNCTIONS))
    for i, (axes, name) in enumerate(zip(panels, _FUNCTIONS, strict=True)):
        for k, look in enumerate(style.cycle(data.sizes["curve"])):
            strength = data["spike_strength"].values[k]
            label = f"{curve_label(data, k)}, $r = {strength:.3g}$"
            axes.plot(data["kappa"], data[name].isel(curve=k), color=look["color"], label=label)
        axes.set_xlabel(r"projection on the spike $\kappa$")
        axes.set_ylabel(f"${data[name].attrs['symbol']}$")
        title_panel(axes, i, shared_setting(data))
    legend_beside(panels[-1])
    return figure
