"""Figure S4: double descent of random features, conditional Gaussian ones, and the kernel limit."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import (
    legend_entry,
    markers,
    theory_and_networks,
    title_panel,
)
from giantstep.figures.labels import (
    SAMPLE_COMPLEXITY,
    TEST_ERROR,
    format_parameter,
    shared_setting,
)
from giantstep.figures.learning_curves import limits
from giantstep.figures.selection import panel_data, smallest_ridge

_HOLLOW: dict[str, Any] = {"markerfacecolor": "none", "markersize": 5, "markeredgewidth": 0.6}


def ridges(axes: Axes, network: xr.Dataset, gaussian: xr.Dataset) -> None:
    """Draw a curve for each ridge, with markers of networks and, hollow, of Gaussian features."""
    for i, look in enumerate(style.cycle(network.sizes["curve"])):
        curve, twin = network.isel(curve=i), gaussian.isel(curve=i)
        label = f"${format_parameter('ridge', curve['ridge'].item())}$"
        theory_and_networks(axes, curve, "test_error", look, label)
        markers(axes, twin["alpha_simulated"], twin, "test_error", look | _HOLLOW)
    black: dict[str, Any] = {"color": "black", "linestyle": "none", "marker": "o"}
    legend_entry(axes, "network", **black, markersize=2.8)
    legend_entry(axes, "conditional Gaussian", **black | _HOLLOW)


def widths(axes: Axes, data: xr.Dataset) -> None:
    """Draw a curve for each width; the widest, without simulations, stands for the kernel."""
    data = data.sortby("beta")
    *finite, kernel = (data.isel(curve=i) for i in range(data.sizes["curve"]))
    for curve, look in zip(finite, style.cycle(len(finite)), strict=True):
        label = f"${format_parameter('beta', curve['beta'].item())}$"
        theory_and_networks(axes, curve, "test_error", look, label)
    axes.plot(kernel["alpha"], kernel["test_error"], color="black")
    legend_entry(axes, r"kernel, $\beta \to \infty$", color="black", linewidth=1.6)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure = Figure(figsize=style.size(columns=2))
    left, right = figure.subplots(1, 2, sharey=True)
    network = panel_data(data, "network")
    ridges(left, network, panel_data(data, "gaussian"))
    # No step was taken, so its parameters do not matter.
    functions = network.drop_vars(["learning_rate", "ridge", "spike_strength", "alignment"])
    title_panel(left, 0, f"{shared_setting(functions)}, ${format_parameter('beta', 1)}$")
    at_smallest = smallest_ridge(data)
    widths(right, at_smallest.isel(curve=at_smallest["panel"].values != "gaussian"))
    title_panel(right, 1, f"${format_parameter('ridge', at_smallest['ridge'].values[0])}$")
    for axes in (left, right):
        limits(axes, network, {"best_linear": True})
        axes.set_yscale("log")
        axes.set_xlim(left=0)
        axes.set_xlabel(SAMPLE_COMPLEXITY)
        axes.legend(loc="upper right")
    left.set_ylabel(TEST_ERROR)
    return figure
