"""Figure S4: double descent of random features, their Gaussian twins, and the kernel limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.curves import heading, limits, markers, panel_data, setting, written

HOLLOW: dict[str, Any] = {"markerfacecolor": "none", "markersize": 5, "markeredgewidth": 0.6}


def ridges(axes: Axes, network: xr.Dataset, gaussian: xr.Dataset) -> None:
    """Draw a curve a ridge, with markers of networks and, hollow, of Gaussian features."""
    for i, look in enumerate(style.cycle(network.sizes["curve"])):
        curve, twin = network.isel(curve=i), gaussian.isel(curve=i)
        axes.plot(curve["alpha"], curve["test_error"], color=look["color"])
        axes.plot([], [], label=f"${written('ridge', format(curve['ridge'].item(), 'g'))}$", **look)
        markers(axes, curve["alpha_simulated"], curve, "test_error", look)
        markers(axes, twin["alpha_simulated"], twin, "test_error", look | HOLLOW)
    axes.plot([], [], color="black", linestyle="none", marker="o", label="network", markersize=2.8)
    hollow = {"color": "black", "linestyle": "none", "marker": "o"} | HOLLOW
    axes.plot([], [], label="conditional Gaussian", **hollow)


def widths(axes: Axes, data: xr.Dataset) -> None:
    """Draw a curve a width, the widest without simulations: the kernel."""
    data = data.sortby("beta")
    for i, look in enumerate(style.cycle(data.sizes["curve"])):
        curve = data.isel(curve=i)
        kernel = i == data.sizes["curve"] - 1
        text = f"${written('beta', format(curve['beta'].item(), 'g'))}$"
        if kernel:
            look = {"color": "black", "linewidth": 1.6}
        axes.plot(curve["alpha"], curve["test_error"], **{"color": look["color"]})
        axes.plot([], [], label=r"kernel, $\beta \to \infty$" if kernel else text, **look)
        if not kernel:
            markers(axes, curve["alpha_simulated"], curve, "test_error", look)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset, by its YAML."""
    figure = Figure(figsize=style.size(columns=2))
    left, right = figure.subplots(1, 2, sharey=True)
    network = panel_data(data, "network")
    least = network["ridge"].values.min()
    at_least = data.isel(curve=np.flatnonzero(data["ridge"].values == least))
    ridges(left, network, panel_data(data, "gaussian"))
    # No step was taken: its parameters say nothing.
    functions = network.drop_vars(["learning_rate", "ridge", "spike_strength", "alignment"])
    heading(left, 0, f"{setting(functions)}, ${written('beta', '1')}$")
    widths(right, at_least.isel(curve=np.flatnonzero(at_least["panel"].values != "gaussian")))
    heading(right, 1, f"${written('ridge', f'{least:g}')}$")
    for axes in (left, right):
        limits(axes, network, {"best_linear": True})
        axes.set_yscale("log")
        axes.set_xlim(left=0)
        axes.set_xlabel(r"sample complexity $\alpha = n/d$")
        axes.legend(loc="upper right")
    left.set_ylabel(r"test error $\epsilon_g$")
    return figure
