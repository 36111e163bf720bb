"""Panels that compare readouts of different losses: by sample complexity, and by ridge."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import failure_crosses, legend_entry, markers, title_panel
from giantstep.figures.labels import SAMPLE_COMPLEXITY, shared_setting
from giantstep.figures.selection import distinct, in_limit, panel_data, select

# Panels of theory in the YAML; those of simulations, at fewer ridges, are named `before_networks`
# and `after_networks`.
_PANELS = ("before", "after")


def draw_losses(
    data: xr.Dataset, config: dict[str, Any], name: str, label: str, ridge: float, alpha: float
) -> Figure:
    """Draw a quantity for each loss, before the step and after it: at one ridge, and at one alpha.

    Parameters
    ----------
    data : xarray.Dataset
    config : dict
        The figure's YAML.
    name, label : str
        The quantity, and its label on the axis.
    ridge, alpha : float
        The ridge of the upper panels, the sample complexity of the lower ones.
    """
    fixed = {"ridge": ridge}, {"alpha": alpha}
    data = in_limit(data)
    figure = Figure(figsize=style.size(2, 2))
    places = figure.subplots(2, 2, sharey="row")
    for column, panel in enumerate(_PANELS):
        title = config["panels"][panel]["title"]
        theory, networks = (panel_data(data, part) for part in (panel, f"{panel}_networks"))
        for row, axes in enumerate(places[:, column]):
            setting = shared_setting(theory, (), **fixed[row])
            title_panel(axes, 2 * row + column, f"{title}, {setting}")
        for loss, look in looks(data, config).items():
            lines, points = (select(p, loss=loss).sortby("ridge") for p in (theory, networks))
            against_alpha(places[0, column], lines, points, ridge, name, look)
            against_ridge(places[1, column], lines, points, alpha, name, look)
            legend_entry(places[0, column], loss_label(loss), **look)
    for row in places:
        row[0].set_ylabel(label)
    places[0, 0].legend()
    return figure


def loss_label(loss: str) -> str:
    """Name a loss in the legend."""
    name, _, delta = loss.partition(":")
    return rf"Huber, $\delta = {delta}$" if delta else name


def looks(data: xr.Dataset, config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return colour and marker of each loss."""
    losses = distinct(data, "loss")
    return dict(zip(losses, style.cycle(len(losses), config["style"]["colours"]), strict=True))


def against_alpha(
    axes: Axes,
    lines: xr.Dataset,
    points: xr.Dataset,
    ridge: float,
    name: str,
    look: dict[str, Any],
) -> None:
    """Draw a quantity of one loss against the sample complexity."""
    line, point = (select(data, ridge=ridge).isel(curve=0) for data in (lines, points))
    axes.plot(line["alpha"], line[name], color=look["color"])
    failure_crosses(axes, "alpha", line, look["color"])
    markers(axes, point["alpha_simulated"], point, name, look)
    axes.set(xlabel=SAMPLE_COMPLEXITY, xlim=(0, None))


def against_ridge(
    axes: Axes,
    lines: xr.Dataset,
    points: xr.Dataset,
    alpha: float,
    name: str,
    look: dict[str, Any],
) -> None:
    """Draw a quantity of one loss against the ridge."""
    at = lines.sel(alpha=alpha)
    axes.plot(at["ridge"], at[name], color=look["color"])
    failure_crosses(axes, "ridge", at, look["color"])
    markers(axes, points["ridge"], points.sel(alpha_simulated=alpha), name, look)
    axes.set(xscale="log", xlabel=r"ridge $\lambda$")
