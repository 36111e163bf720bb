"""Figure 3: functions that realise the bounds, and the optimised error between its bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.curves import heading, legend_above, markers, setting, written

UPPER: dict[str, Any] = {"color": style.COLOURS[2], "linestyle": style.DASHED}
LOWER: dict[str, Any] = {"color": style.COLOURS[4], "linestyle": style.DOTTED}


def functions(axes: Axes, curve: xr.Dataset) -> None:
    """Draw the target, and the functions nearest to it that a readout can make."""
    kappa = curve["kappa"]
    axes.plot(kappa, curve["conditional_target"], color="black", label=r"target $\sigma_\star$")
    for name, look in (("upper_bound_function", UPPER), ("lower_bound_function", LOWER)):
        symbol, equation = (curve[name].attrs[key] for key in ("symbol", "equation"))
        axes.plot(kappa, curve[name], label=f"${symbol}$ {equation}", **look)
    axes.set_xlabel(r"projection on the spike $\kappa$")
    axes.set_ylabel("output")


def errors(axes: Axes, data: xr.Dataset) -> None:
    """Draw the error at the best ridge, simulated at the nearest ridge, between the bounds."""
    first = data.isel(curve=0)
    axes.axhline(first["upper_bound"].item(), label="(26)", **UPPER)
    axes.axhline(first["lower_bound"].item(), label="(27)", **LOWER)
    widths = np.unique(data["beta"].values)
    for width, look in zip(widths, style.cycle(widths.size), strict=True):
        ridges = data.isel(curve=np.flatnonzero(data["beta"].values == width))
        axes.plot([], [], label=f"${written('beta', f'{width:g}')}$", **look)
        curve = ridges.isel(curve=0)
        axes.plot(curve["alpha"], curve["optimal_test_error"], color=look["color"])
        markers(axes, curve["alpha_simulated"], curve, "optimal_test_error", look)
    axes.set_xscale("log")
    axes.set_xlabel(r"sample complexity $\alpha = n/d$")
    axes.set_ylabel(r"test error $\epsilon_g$")


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset, by its YAML."""
    figure = Figure(figsize=style.size(columns=2))
    left, right = figure.subplots(1, 2)
    functions(left, data.isel(curve=0))
    heading(left, 0, setting(data.drop_vars("ridge")))
    legend_above(left, columns=1)
    errors(right, data)
    heading(right, 1, r"at the best ridge")
    legend_above(right, columns=4)
    return figure
