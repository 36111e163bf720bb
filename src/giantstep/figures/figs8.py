"""Figure S8: test error after several gradient steps, on fresh batches and on a reused one."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import legend_entry, markers, ticks, title_panel
from giantstep.figures.labels import LEARNING_RATE, TEST_ERROR, format_parameter
from giantstep.figures.selection import select
from giantstep.numerics.scalar_functions import lookup

# Look of a reused batch.
_REUSED: dict[str, Any] = {"markerfacecolor": "white", "linestyle": style.DOTTED}
_TARGETS = ("sin", "sign")


def at_best_rate(curves: xr.Dataset, name: str, by: str) -> xr.Dataset:
    """Select, for each value of `by`, the curve with the smallest value of the variable `name`."""
    values, errors = curves[by].values, curves[name].values
    known = np.where(np.isfinite(errors), errors, np.inf)  # where the theory failed
    places = (np.flatnonzero(values == value) for value in np.unique(values))
    return curves.isel(curve=[place[np.argmin(known[place])] for place in places])


def trajectories(axes: Axes, curves: xr.Dataset, look: dict[str, Any]) -> None:
    """Draw errors at the best simulated learning rate, on fresh batches and on a reused one."""
    first = select(curves, steps=1)
    for reused, further in ((0, {"linestyle": "-"}), (1, _REUSED)):
        later = select(curves, reuse_batch=reused)
        every = later if reused == 0 else xr.concat([first, later], "curve")
        best = at_best_rate(every, "simulated_test_error_mean", "steps")
        marked = look | {k: v for k, v in further.items() if k != "linestyle"}
        mean, line = best["simulated_test_error_mean"], further["linestyle"]
        axes.plot(best["steps"], mean, color=look["color"], linestyle=line)
        markers(axes, best["steps"], best, "test_error", marked)


def compounding(axes: Axes, networks: xr.Dataset, at_once: xr.Dataset) -> None:
    """Draw errors after each step, and those of one step on all the samples at once."""
    one = at_best_rate(at_once, "test_error", "alpha0")
    for alpha0, look in zip((1.0, 4.0), style.cycle(3)[::2], strict=True):
        trajectories(axes, select(networks, alpha0=alpha0), look)
        legend_entry(axes, f"${format_parameter('alpha0', alpha0)}$", **look)
        steps = [k for k in range(1, 6) if alpha0 * k in one["alpha0"].values]
        errors = [select(one, alpha0=alpha0 * k)["test_error"].item() for k in steps]
        axes.plot(steps, errors, color=look["color"], linestyle=style.DASHED)
    infinite = select(one, alpha0=np.inf)["test_error"].item()
    axes.axhline(infinite, color="black", linestyle=style.LINES[2], linewidth=0.9)
    best_linear(axes, networks)
    axes.set_yscale("log")


def best_linear(axes: Axes, curves: xr.Dataset) -> None:
    """Draw the error of the best linear predictor of a target."""
    linear = curves["best_linear_error"].values[0]
    axes.axhline(linear, color="black", linestyle=style.DOTTED, linewidth=0.9)


def rates(axes: Axes, curves: xr.Dataset) -> None:
    """Draw errors against the learning rate, a curve for each number of steps."""
    steps = np.unique(curves["steps"].values)
    for count, look in zip(steps, style.cycle(steps.size), strict=True):
        of_count = select(curves, steps=count).sortby("learning_rate")
        x = of_count["learning_rate"]
        axes.plot(x, of_count["simulated_test_error_mean"], color=look["color"], linewidth=0.9)
        markers(axes, x, of_count, "test_error", look)
        legend_entry(axes, "1 step" if count == 1 else f"{count:g} steps", **look)
    axes.set_xscale("log")
    axes.set_yscale("log")
    sizes = np.unique(curves["learning_rate"].values)
    axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
    axes.set_xlabel(LEARNING_RATE)
    axes.set_ylim(0.004, 0.15)
    ticks(axes, "y", (0.005, 0.01, 0.02, 0.05, 0.1))
    axes.legend(loc="lower left", ncols=2)


def line_legend(axes: Axes) -> None:
    """Add legend entries for the lines and markers that all panels share."""
    grey: dict[str, Any] = {"color": "grey", "marker": "o"}
    infinite = format_parameter("alpha0", np.inf)
    legend_entry(axes, "fresh batches", **grey)
    legend_entry(axes, "one batch, reused", **grey | _REUSED)
    legend_entry(axes, "one step on all samples", color="grey", linestyle=style.DASHED)
    legend_entry(axes, f"one step, ${infinite}$", color="black", linestyle=style.LINES[2])
    legend_entry(axes, "best linear", color="black", linestyle=style.DOTTED)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure = Figure(figsize=style.size(2, 2))
    places = figure.subplots(2, 2).ravel()
    data = data.isel(alpha_simulated=0, alpha=0)
    simulated = np.isfinite(data["simulated_test_error_mean"].values)
    networks, at_once = data.isel(curve=simulated), data.isel(curve=~simulated)
    for axes, target in zip(places, _TARGETS, strict=False):
        compounding(axes, select(networks, target=target), select(at_once, target=target))
    places[0].legend(loc="lower left", ncols=2)
    places[0].set_ylim(0.005, 0.2)
    ticks(places[0], "y", (0.005, 0.01, 0.02, 0.05, 0.1, 0.2))
    places[1].set_ylim(0.016, 0.8)
    ticks(places[1], "y", (0.02, 0.05, 0.1, 0.2, 0.5))
    line_legend(places[1])
    handles, entries = places[1].get_legend_handles_labels()
    places[1].legend(handles[2:], entries[2:], loc="lower left")
    leap = select(networks, target="he3")
    trajectories(places[2], leap, style.cycle(2)[1])
    best_linear(places[2], leap)
    places[2].set_ylim(5, 10)
    sine = select(networks, target="sin", alpha0=4.0, reuse_batch=0)
    rates(places[3], sine.isel(curve=np.isin(sine["steps"], config["panels"]["rates"]["steps"])))
    labels = [rf"$\sigma_\star = {lookup(name).label}$" for name in (*_TARGETS, "he3", "sin")]
    for i, (axes, text) in enumerate(zip(places, labels, strict=True)):
        title_panel(axes, i, text if i < 2 else text + r", $\alpha_0 = 4$")
        axes.set_ylabel(TEST_ERROR)
        if i < 3:
            axes.set_xlabel("steps")
            axes.set_xticks(range(1, 6))
    return figure
