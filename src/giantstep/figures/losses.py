"""Readouts of different losses side by side: against the sample complexity, and the ridge."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.curves import heading, mark_failures, markers, panel_data, written

# Panels of a YAML, and those of the same problems that are simulated, at fewer ridges.
PANELS, NETWORKS = ("before", "after"), "{}_networks"


def draw_losses(
    data: xr.Dataset, config: dict[str, Any], name: str, label: str, ridge: float, alpha: float
) -> Figure:
    """Draw what losses do before the step and after it: at one ridge, and at one alpha.

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
    figure = Figure(figsize=style.size(2, 2))
    places = figure.subplots(2, 2, sharey="row")
    for column, panel in enumerate(PANELS):
        title = config["panels"][panel]["title"]
        theory, networks = (panel_data(data, part) for part in (panel, NETWORKS.format(panel)))
        for row, (axes, fixed) in enumerate(
            zip(places[:, column], (rf"\lambda = {ridge:g}", rf"\alpha = {alpha:g}"), strict=True)
        ):
            heading(axes, 2 * row + column, rf"{title}, ${fixed}$")
        for loss, look in looks(data, config).items():
            lines, points = (of_loss(part, loss) for part in (theory, networks))
            against_alpha(places[0, column], lines, points, ridge, name, look)
            against_ridge(places[1, column], lines, points, alpha, name, look)
            places[0, column].plot([], [], label=named(loss), **look)
    for row in places:
        row[0].set_ylabel(label)
    places[0, 0].legend()
    return figure


def named(loss: str) -> str:
    """Name a loss in a legend."""
    name, _, turn = loss.partition(":")
    return f"${written('loss', name)}$" + (rf", $\delta = {turn}$" if turn else "")


def looks(data: xr.Dataset, config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Give colour and marker of each loss."""
    losses = list(dict.fromkeys(data["loss"].values.tolist()))
    return dict(zip(losses, style.cycle(len(losses), config["style"]["colours"]), strict=True))


def of_loss(data: xr.Dataset, loss: str) -> xr.Dataset:
    """Select the curves of one loss, in the order of their ridges."""
    return data.isel(curve=np.flatnonzero(data["loss"].values == loss)).sortby("ridge")


def against_alpha(
    axes: Axes,
    lines: xr.Dataset,
    points: xr.Dataset,
    ridge: float,
    name: str,
    look: dict[str, Any],
) -> None:
    """Draw a learning curve."""
    line, point = (
        data.isel(curve=int(np.flatnonzero(data["ridge"].values == ridge)[0]))
        for data in (lines, points)
    )
    axes.plot(line["alpha"], line[name], color=look["color"])
    mark_failures(axes, "alpha", line, look["color"])
    markers(axes, point["alpha_simulated"], point, name, look)
    axes.set_xlabel(r"sample complexity $\alpha = n/d$")
    axes.set_xlim(left=0)


def against_ridge(
    axes: Axes,
    lines: xr.Dataset,
    points: xr.Dataset,
    alpha: float,
    name: str,
    look: dict[str, Any],
) -> None:
    """Draw what a loss makes of the ridge."""
    at = lines.sel(alpha=alpha)
    axes.plot(at["ridge"], at[name], color=look["color"])
    mark_failures(axes, "ridge", at, look["color"])
    markers(axes, points["ridge"], points.sel(alpha_simulated=alpha), name, look)
    axes.set_xscale("log")
    axes.set_xlabel(r"ridge $\lambda$")
