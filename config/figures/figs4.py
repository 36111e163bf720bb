"""Figure S4: double descent of random features, conditional Gaussian ones, and the kernel limit."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import (
    best_linear,
    legend_entry,
    legends_under,
    markers,
    theory_and_networks,
    title_panel,
)
from giantstep.figures.labels import SAMPLE_COMPLEXITY, TEST_ERROR, format_parameter
from giantstep.figures.selection import in_limit, panel_data, smallest_ridge

# Open markers are larger, so that those of networks are seen in them.
_AROUND = style.OPEN | {"markersize": 5.5}


def ridges(axes: Axes, network: xr.Dataset, gaussian: xr.Dataset) -> None:
    """Draw a curve for each ridge, with markers of networks and, hollow, of Gaussian features."""
    for i, look in enumerate(style.looks(network["ridge"].values.tolist()).values()):
        curve, twin = network.isel(curve=i), gaussian.isel(curve=i)
        label = f"${format_parameter('ridge', curve['ridge'].item())}$"
        markers(axes, twin["alpha_simulated"], twin, "test_error", look | _AROUND)
        theory_and_networks(axes, curve, "test_error", look, label)
    black = style.look("black") | {"linestyle": "none"}
    legend_entry(axes, "networks", **black)
    legend_entry(axes, "Gaussian", **black | _AROUND)


def widths(axes: Axes, data: xr.Dataset) -> None:
    """Draw a curve for each width; the widest, without simulations, stands for the kernel."""
    data = data.sortby("beta")
    *finite, kernel = (data.isel(curve=i) for i in range(data.sizes["curve"]))
    looks = style.looks(data["beta"].values[:-1].tolist()).values()
    for curve, look in zip(finite, looks, strict=True):
        label = f"${format_parameter('beta', curve['beta'].item())}$"
        theory_and_networks(axes, curve, "test_error", look, label)
    label = r"kernel, $\beta \to \infty$"
    axes.plot(kernel["alpha"], kernel["test_error"], color="black", label=label)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    data = in_limit(data)
    figure, (left, right) = style.panels(2, sharey=True)
    network = panel_data(data, "network")
    ridges(left, network, panel_data(data, "gaussian"))
    title_panel(left, 0, f"${format_parameter('beta', network['beta'].values[0])}$")
    at_smallest = smallest_ridge(data)
    networks = at_smallest.isel(curve=at_smallest["panel"].values != "gaussian")
    widths(right, networks)
    title_panel(right, 1, f"${format_parameter('ridge', networks['ridge'].values[0])}$")
    for axes in (left, right):
        best_linear(axes, network)
        axes.set(yscale="log", xlim=(0, None), xlabel=SAMPLE_COMPLEXITY)
    legends_under((left, right))
    left.set_ylabel(TEST_ERROR)
    return figure
