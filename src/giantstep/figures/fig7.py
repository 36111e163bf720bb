"""Figure 7: functions of the projection on the spike that the learning rate puts within reach."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.curves import heading, label, legend_beside, setting, written

SHOWN = ("mu0", "kappa_mu1")


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset, by its YAML."""
    figure = Figure(figsize=style.size(columns=2.45))
    panels = figure.subplots(1, len(SHOWN))
    for i, (axes, name) in enumerate(zip(panels, SHOWN, strict=True)):
        for k, look in enumerate(style.cycle(data.sizes["curve"])):
            strength = data["spike_strength"].values[k]
            axes.plot(
                data["kappa"],
                data[name].isel(curve=k),
                color=look["color"],
                linestyle=style.LINES[k % len(style.LINES)],
                label=f"{label(data, k)}, $r = {strength:.3g}$",
            )
        axes.set_xlabel(r"projection on the spike $\kappa$")
        axes.set_ylabel(f"${data[name].attrs['symbol']}$")
        beta = written("beta", f"{data['beta'].values[0]:g}")
        heading(axes, i, f"{setting(data)}, ${beta}$" if i == 0 else r"$\alpha_0 = \infty$")
    legend_beside(panels[-1])
    return figure
