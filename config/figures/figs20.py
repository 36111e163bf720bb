"""Figure S20: a step on one target, a readout that learns another."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import finite_size_and_networks, legends_under, title_panel
from giantstep.figures.labels import TEST_ERROR, format_parameter
from giantstep.figures.maps import map_panel
from giantstep.figures.selection import distinct, in_limit, panel_data, select


def overlaps(axes: Axes, networks: xr.Dataset, no_step: float) -> None:
    """Draw test errors over the overlap of the two tasks."""
    for alpha0, look in style.looks(distinct(networks, "alpha0")).items():
        curves = select(networks, alpha0=alpha0).sortby("task_overlap")
        label = f"${format_parameter('alpha0', alpha0)}$"
        finite_size_and_networks(axes, curves, "task_overlap", look, label)
    axes.axhline(no_step, label="no step", **style.GUIDE | {"color": style.NO_STEP})
    axes.set(xlabel=r"task overlap $\gamma_\star$", ylabel=TEST_ERROR)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure, places = style.panels(3)
    networks = panel_data(data, "overlap").isel(alpha_simulated=0, alpha=0)
    before = in_limit(panel_data(data, "no_step")).isel(alpha=0, curve=0)
    overlaps(places[0], networks, float(before["test_error"]))
    title_panel(places[0], 0, f"${format_parameter('learning_rate', 2)}$")
    for i, (name, fixed) in enumerate((("batch", "learning_rate"), ("rate", "alpha0")), start=1):
        map_panel(places[i], panel_data(data, name).isel(curve=0), "gain_over_no_step")
        given = config["panels"][name][fixed]
        title_panel(places[i], i, f"gain over no step, ${format_parameter(fixed, given)}$")
    legends_under(places)
    return figure
