"""Readouts of different losses side by side: against the sample complexity, and the ridge."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.curves import heading, legend_above, markers, panel_data, written


def draw_losses(
    data: xr.Dataset, config: dict[str, Any], name: str, label: str, ridge: float, alpha: float
) -> Figure:
    """Draw each panel of the YAML twice: at one ridge, and at one sample complexity.

    Parameters
    ----------
    data : xarray.Dataset
    config : dict
        The figure's YAML.
    name, label : str
        What is drawn, and its name on the axis.
    ridge, alpha : float
        At which.
    """
    panels = list(config["panels"].items())
    figure = Figure(figsize=style.size(len(panels), 2))
    places = figure.subplots(2, len(panels), squeeze=False)
    for column, (panel, spec) in enumerate(panels):
        shown, (above, below) = panel_data(data, panel), places[:, column]
        against_alpha(above, shown.isel(curve=shown["ridge"].values == ridge), name, config)
        heading(above, column, rf"{spec['title']}, $\lambda = {ridge:g}$")
        legend_above(above, columns=1)
        against_ridge(below, shown, name, alpha, config)
        heading(below, len(panels) + column, rf"{spec['title']}, $\alpha = {alpha:g}$")
        for axes in (above, below):
            axes.set_ylabel(label)
    return figure


def looks(data: xr.Dataset, config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Give colour and marker of each loss."""
    losses = list(dict.fromkeys(data["loss"].values.tolist()))
    return dict(zip(losses, style.cycle(len(losses), config["style"]["colours"]), strict=True))


def against_alpha(axes: Axes, data: xr.Dataset, name: str, config: dict[str, Any]) -> None:
    """Draw learning curves, a loss each."""
    for loss, look in looks(data, config).items():
        curve = data.isel(curve=int(np.flatnonzero(data["loss"].values == loss)[0]))
        axes.plot(curve["alpha"], curve[name], color=look["color"])
        markers(axes, curve["alpha_simulated"], curve, name, look)
        axes.plot([], [], label=f"${written('loss', loss)}$", **look)
    axes.set_xlabel(r"sample complexity $\alpha = n/d$")
    axes.set_xlim(left=0)


def against_ridge(
    axes: Axes, data: xr.Dataset, name: str, alpha: float, config: dict[str, Any]
) -> None:
    """Draw what each loss makes of the ridge at one sample complexity."""
    at = data.sel(alpha=alpha, alpha_simulated=alpha)
    for loss, look in looks(data, config).items():
        curves = at.isel(curve=np.flatnonzero(at["loss"].values == loss)).sortby("ridge")
        axes.plot(curves["ridge"], curves[name], color=look["color"])
        markers(axes, curves["ridge"], curves, name, look)
    axes.set_xscale("log")
    axes.set_xlabel(r"ridge $\lambda$")
