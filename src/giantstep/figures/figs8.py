"""Figure S8: test error after several steps, on fresh batches and on a reused one."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.curves import heading, limits, markers, panel_data, setting
from giantstep.figures.figs9 import only

# How batches are marked: fresh ones filled, a reused one open.
OPEN: dict[str, Any] = {"markerfacecolor": "white", "linestyle": style.DOTTED}


def at_best_rate(curves: xr.Dataset, name: str, by: str) -> xr.Dataset:
    """Select, of the curves that share a value of `by`, the one with the least of a variable."""
    values = curves[by].values
    best = [
        min(np.flatnonzero(values == value), key=lambda i: curves[name].values[i])
        for value in np.unique(values)
    ]
    return curves.isel(curve=best)


def trajectory(axes: Axes, curves: xr.Dataset, **look: Any) -> None:
    """Draw errors at the best simulated rate against the number of steps."""
    best = at_best_rate(curves, "simulated_test_error_mean", "steps")
    line = {"linestyle": look.pop("linestyle", "-"), "color": look["color"]}
    axes.plot(best["steps"], best["simulated_test_error_mean"], linewidth=0.9, **line)
    markers(axes, best["steps"], best, "test_error", look)


def compounding(axes: Axes, fresh: xr.Dataset, reused: xr.Dataset, at_once: xr.Dataset) -> None:
    """Draw a target's errors after each step, beside one step on all the samples at once."""
    batches = np.unique(fresh["alpha0"].values)
    for alpha0, look in zip(batches, style.cycle(3)[::2], strict=True):
        of_batch = only(fresh, alpha0=alpha0)
        trajectory(axes, of_batch, **look)
        first = only(of_batch, steps=1)
        again = xr.concat([first, only(reused, alpha0=alpha0)], "curve")
        trajectory(axes, again, **look | OPEN)
        steps = np.unique(of_batch["steps"].values)
        one = [only(at_once, alpha0=alpha0 * k)["test_error"].min().item() for k in steps]
        axes.plot(steps, one, color=look["color"], linestyle=style.DASHED)
        axes.plot([], [], label=rf"$\alpha_0 = {alpha0:g}$", **look)
    infinite = only(at_once, alpha0=np.inf)["test_error"].min().item()
    axes.axhline(infinite, color="black", linestyle=style.DASHED, linewidth=0.9)
    axes.set_yscale("log")


def blind(axes: Axes, fresh: xr.Dataset, reused: xr.Dataset) -> None:
    """Draw the errors of a target of leap three, which no step finds."""
    look = style.cycle(3)[2]
    trajectory(axes, fresh, **look)
    trajectory(axes, xr.concat([only(fresh, steps=1), reused], "curve"), **look | OPEN)
    axes.set_ylim(bottom=0)


def rates(axes: Axes, curves: xr.Dataset) -> None:
    """Draw errors against the learning rate, a curve each number of steps."""
    steps = np.unique(curves["steps"].values)
    for count, look in zip(steps, style.cycle(steps.size), strict=True):
        of_count = only(curves, steps=count).sortby("learning_rate")
        x = of_count["learning_rate"]
        axes.plot(x, of_count["simulated_test_error_mean"], color=look["color"], linewidth=0.9)
        markers(axes, x, of_count, "test_error", look)
        text = "1 step" if count == 1 else f"{count:g} steps"
        axes.plot([], [], label=text, **look)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(np.unique(curves["learning_rate"].values))
    axes.minorticks_off()


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset, by its YAML."""
    figure = Figure(figsize=style.size(2, 2))
    places = figure.subplots(2, 2).ravel()
    data = data.squeeze("alpha_simulated").squeeze("alpha")
    fresh, reused, few, leap, leap_reused, at_once = (
        panel_data(data, name) for name in config["panels"]
    )
    for i, target in enumerate(("sin", "sign")):
        shown = [only(curves, target=target) for curves in (fresh, reused, at_once)]
        compounding(places[i], *shown)
        heading(places[i], i, setting(shown[0].assign_coords(curve=["x"] * 0 or shown[0]["curve"])))
    blind(places[2], leap, leap_reused)
    limits(places[2], leap, {"best_linear": True})
    heading(places[2], 2, setting(leap))
    every = xr.concat([only(fresh, target="sin", alpha0=4.0), few], "curve")
    rates(places[3], every.isel(curve=np.flatnonzero(np.isin(every["steps"], few["steps"]))))
    heading(places[3], 3, "rates")
    for axes in places[:3]:
        axes.set_xlabel("steps $k$")
        axes.set_xticks(np.unique(fresh["steps"].values))
    places[3].set_xlabel(r"learning rate $\tilde\eta$")
    for axes in places:
        axes.set_ylabel(r"test error $\epsilon_g$")
        axes.legend()
    return figure
