"""Figure S8: test error after several steps, on fresh batches and on a reused one."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.curves import heading, markers, only
from giantstep.numerics.scalar_functions import lookup

# How a reused batch is drawn, beside fresh ones.
REUSED: dict[str, Any] = {"markerfacecolor": "white", "linestyle": style.DOTTED}
TARGETS = ("sin", "sign")


def at_best_rate(curves: xr.Dataset, name: str, by: str) -> xr.Dataset:
    """Select, of the curves that share a value of `by`, the one with the least of a variable."""
    values, errors = curves[by].values, curves[name].values
    known = np.where(np.isfinite(errors), errors, np.inf)  # a theory that failed is not the best
    places = (np.flatnonzero(values == value) for value in np.unique(values))
    return curves.isel(curve=[place[np.argmin(known[place])] for place in places])


def trajectories(axes: Axes, curves: xr.Dataset, look: dict[str, Any]) -> None:
    """Draw errors at the best simulated rate after each step, on fresh batches and on one."""
    first = only(curves, steps=1)
    for reused, further in ((0, {"linestyle": "-"}), (1, REUSED)):
        later = only(curves, reuse_batch=reused)
        every = later if reused == 0 else xr.concat([first, later], "curve")
        best = at_best_rate(every, "simulated_test_error_mean", "steps")
        marked = look | {k: v for k, v in further.items() if k != "linestyle"}
        mean, line = best["simulated_test_error_mean"], further["linestyle"]
        axes.plot(best["steps"], mean, color=look["color"], linestyle=line)
        markers(axes, best["steps"], best, "test_error", marked)


def compounding(axes: Axes, networks: xr.Dataset, at_once: xr.Dataset) -> None:
    """Draw a target's errors after each step, beside one step on all the samples at once."""
    one = at_best_rate(at_once, "test_error", "alpha0")
    for alpha0, look in zip((1.0, 4.0), style.cycle(3)[::2], strict=True):
        trajectories(axes, only(networks, alpha0=alpha0), look)
        axes.plot([], [], label=rf"$\alpha_0 = {alpha0:g}$", **look)
        steps = [k for k in range(1, 6) if alpha0 * k in one["alpha0"].values]
        errors = [only(one, alpha0=alpha0 * k)["test_error"].item() for k in steps]
        axes.plot(steps, errors, color=look["color"], linestyle=style.DASHED)
    infinite = only(one, alpha0=np.inf)["test_error"].item()
    axes.axhline(infinite, color="black", linestyle=style.LINES[2], linewidth=0.9)
    best_linear(axes, networks)
    axes.set_yscale("log")


def best_linear(axes: Axes, curves: xr.Dataset) -> None:
    """Draw the error of the best linear predictor of a target."""
    linear = curves["best_linear_error"].values[0]
    axes.axhline(linear, color="black", linestyle=style.DOTTED, linewidth=0.9)


def rates(axes: Axes, curves: xr.Dataset) -> None:
    """Draw errors against the learning rate, a curve each number of steps."""
    steps = np.unique(curves["steps"].values)
    for count, look in zip(steps, style.cycle(steps.size), strict=True):
        of_count = only(curves, steps=count).sortby("learning_rate")
        x = of_count["learning_rate"]
        axes.plot(x, of_count["simulated_test_error_mean"], color=look["color"], linewidth=0.9)
        markers(axes, x, of_count, "test_error", look)
        axes.plot([], [], label="1 step" if count == 1 else f"{count:g} steps", **look)
    axes.set_xscale("log")
    axes.set_yscale("log")
    sizes = np.unique(curves["learning_rate"].values)
    axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
    axes.set_xlabel(r"learning rate $\tilde\eta$")
    axes.set_ylim(0.004, 0.15)
    ticked(axes, 0.005, 0.01, 0.02, 0.05, 0.1)
    axes.legend(loc="lower left", ncols=2)


def ticked(axes: Axes, *errors: float) -> None:
    """Set ticks at some errors."""
    axes.set_yticks(errors, [f"{error:g}" for error in errors])
    axes.minorticks_off()


def kinds(axes: Axes) -> None:
    """Explain lines and markers that all panels share."""
    grey: dict[str, Any] = {"color": "grey", "marker": "o"}
    axes.plot([], [], label="fresh batches", **grey)
    axes.plot([], [], label="one batch, reused", **grey | REUSED)
    axes.plot([], [], color="grey", linestyle=style.DASHED, label="one step on all samples")
    axes.plot(
        [], [], color="black", linestyle=style.LINES[2], label=r"one step, $\alpha_0 = \infty$"
    )
    axes.plot([], [], color="black", linestyle=style.DOTTED, label="best linear")


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset, by its YAML."""
    figure = Figure(figsize=style.size(2, 2))
    places = figure.subplots(2, 2).ravel()
    data = data.isel(alpha_simulated=0, alpha=0)
    simulated = np.isfinite(data["simulated_test_error_mean"].values)
    networks, at_once = data.isel(curve=simulated), data.isel(curve=~simulated)
    for axes, target in zip(places, TARGETS, strict=False):
        compounding(axes, only(networks, target=target), only(at_once, target=target))
    places[0].legend(loc="lower left", ncols=2)
    places[0].set_ylim(0.005, 0.2)
    ticked(places[0], 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
    places[1].set_ylim(0.016, 0.8)
    ticked(places[1], 0.02, 0.05, 0.1, 0.2, 0.5)
    kinds(places[1])
    handles, entries = places[1].get_legend_handles_labels()
    places[1].legend(handles[2:], entries[2:], loc="lower left")
    blind = only(networks, target="he3")
    trajectories(places[2], blind, style.cycle(2)[1])
    best_linear(places[2], blind)
    places[2].set_ylim(5, 10)
    sine = only(networks, target="sin", alpha0=4.0, reuse_batch=0)
    of_rates = [count in config["panels"]["rates"]["steps"] for count in sine["steps"].values]
    rates(places[3], sine.isel(curve=np.flatnonzero(of_rates)))
    labels = [rf"$\sigma_\star = {lookup(name).label}$" for name in (*TARGETS, "he3", "sin")]
    for i, (axes, text) in enumerate(zip(places, labels, strict=True)):
        heading(axes, i, text if i < 2 else text + r", $\alpha_0 = 4$")
        axes.set_ylabel(r"test error $\epsilon_g$")
        if i < 3:
            axes.set_xlabel("steps")
            axes.set_xticks(range(1, 6))
    return figure
