"""Figure S8: several gradient steps, their learning rate, and the best split of a budget."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import finite_size_line, legend_entry, markers, ticks, title_panel
from giantstep.figures.labels import (
    BEST_LINEAR,
    LEARNING_RATE,
    TEST_ERROR,
    format_parameter,
    shared_setting,
)
from giantstep.figures.selection import distinct, panel_data, select
from giantstep.problems.targets import lookup_target

# One step, beside several.
_ONE_STEP: dict[str, Any] = {"linewidth": 0.7}
_TARGETS = ("sin", "sign")
_STAIRS = ("staircase", "leap")
# A step pays if it takes off at least this share of the error.
_PAYS = 0.01
# Of the steps, the share after which it is too early to say that none will pay.
_SEEN = 0.75
_TICKS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def at_best_rate(curves: xr.Dataset) -> xr.Dataset:
    """Select, for each number of steps, the curve with the smallest simulated test error."""
    steps, errors = curves["steps"].values, curves["simulated_test_error_mean"].values
    places = (np.flatnonzero(steps == count) for count in np.unique(steps))
    return curves.isel(curve=[place[np.argmin(errors[place])] for place in places])


def by_rate(curves: xr.Dataset, alpha0: float) -> xr.DataArray:
    """Select the theory's test errors by learning rate and step, without steps that have none."""
    errors = select(curves, alpha0=alpha0)["test_error_by_learning_rate"].isel(curve=0)
    return errors.dropna("step", how="all")


def at_best(curves: xr.Dataset, alpha0: float) -> xr.DataArray:
    """Compute the theory's test error after each step, at the best rate of all steps to it.

    It is missing where no rate is too large.
    """
    errors = by_rate(curves, alpha0)
    largest = errors.isel(theory_learning_rate=-1)
    least = errors.min("theory_learning_rate")
    return least.where(least < largest)


def trajectories(axes: Axes, curves: xr.Dataset, look: dict[str, Any]) -> None:
    """Draw errors at the better simulated rate: fresh batches, with theory, and a reused one."""
    best = at_best_rate(select(curves, reuse_batch=0))
    finite_size_line(axes, best["steps"], best, "test_error", look["color"])
    markers(axes, best["steps"], best, "test_error", look)
    again = at_best_rate(select(curves, reuse_batch=1))
    markers(axes, again["steps"], again, "test_error", look | style.OPEN)


def compounding(axes: Axes, networks: xr.Dataset, theory: xr.Dataset) -> None:
    """Draw errors after each step, and those of one step on all the samples at once."""
    for alpha0, look in zip((1.0, 4.0), style.cycle(3)[::2], strict=True):
        trajectories(axes, select(networks, alpha0=alpha0), look)
        legend_entry(axes, f"${format_parameter('alpha0', alpha0)}$", **look)
        counts = range(1, 6)
        errors = [float(at_best(theory, alpha0 * k).sel(step=1)) for k in counts]
        axes.plot(counts, errors, color=look["color"], **_ONE_STEP)
    axes.set(yscale="log", xlabel="steps")
    axes.set_xticks(range(1, 6))


def star(axes: Axes, x: float, y: float, text: str, look: dict[str, Any]) -> None:
    """Mark a point with a star, and with a number below it."""
    axes.plot(x, y, color=look["color"], **style.STAR)
    place: dict[str, Any] = {"xytext": (0, -11), "textcoords": "offset points", "ha": "center"}
    axes.annotate(text, (x, y), fontsize=7, color=look["color"], **place)


def rates(axes: Axes, networks: xr.Dataset, theory: xr.DataArray) -> None:
    """Draw errors against the learning rate, a curve for each number of steps."""
    for count, look in style.looks(np.unique(networks["steps"].values)).items():
        line = theory.sel(step=count).dropna("theory_learning_rate")
        x = line["theory_learning_rate"]
        axes.plot(x, line, color=look["color"])
        least = int(np.argmin(line.values))
        star(axes, float(x[least]), float(line[least]), f"{x[least]:.1f}", look)
        of_count = select(networks, steps=count)
        markers(axes, of_count["learning_rate"], of_count, "test_error", look)
        legend_entry(axes, "1 step" if count == 1 else f"{count:g} steps", **look)
    axes.set(xscale="log", yscale="log")
    axes.set_xlim(0.3, 13)
    ticks(axes, "x", np.unique(networks["learning_rate"].values))
    axes.set(xlabel=LEARNING_RATE, ylim=(0.004, None))
    ticks(axes, "y", (0.005, 0.01, 0.02, 0.05, 0.1))
    axes.legend(loc="lower left", ncols=2)


def last_that_pays(errors: xr.DataArray) -> int:
    """Find the first step after which no step takes off one per cent of the error."""
    values = errors.values
    paying = np.flatnonzero(values[1:] < (1 - _PAYS) * values[:-1])
    return int(paying[-1]) + 1 if paying.size else 0


def budget(axes: Axes, theory: xr.Dataset) -> None:
    """Draw errors at the best rate against all samples used, a curve for each size of a batch."""
    sizes = sorted(size for size in distinct(theory, "alpha0") if np.isfinite(size))
    one = [float(at_best(theory, size).sel(step=1)) for size in sizes]
    axes.plot(sizes, one, color="black", zorder=3, **_ONE_STEP)
    split = panel_data(theory, "split")
    for alpha0, look in style.looks(sorted(distinct(split, "alpha0"))).items():
        errors = at_best(split, alpha0).dropna("step")
        samples = alpha0 * errors["step"]
        axes.plot(samples, errors, color=look["color"])
        axes.plot(samples[:1], errors[:1], color=look["color"], marker=look["marker"])
        last = last_that_pays(errors)
        if last < _SEEN * errors.size:
            star(axes, float(samples[last]), float(errors[last]), f"{last + 1}", look)
        legend_entry(axes, f"${format_parameter('alpha0', alpha0)}$", **look)
    infinite = float(at_best(theory, np.inf).sel(step=1))
    if np.isfinite(infinite):
        axes.axhline(infinite, **style.GUIDE)
    axes.set(xscale="log", yscale="log", xlabel=r"samples of all batches, $\alpha_0 k$")


def staircases(axes: Axes, networks: xr.Dataset) -> None:
    """Draw errors over those of the best linear predictor after each step, for each target."""
    for target, look in style.looks(distinct(networks, "target")).items():
        curves = select(networks, target=target).sortby("steps")
        unit = curves["best_linear_error"]
        errors = "test_error", "simulated_test_error_mean", "simulated_test_error_stderr"
        scaled = curves.assign({name: curves[name] / unit for name in errors})
        finite_size_line(axes, curves["steps"], scaled, "test_error", look["color"])
        markers(axes, curves["steps"], scaled, "test_error", look)
        legend_entry(axes, f"${lookup_target(target).label}$", **look)
    axes.axhline(1, **style.REFERENCE)
    axes.set(xlabel="steps", ylabel="test error over best linear")


def line_legend(axes: Axes) -> None:
    """Add legend entries for the lines and markers that panels share."""
    grey = style.look("grey")
    infinite = format_parameter("alpha0", np.inf)
    legend_entry(axes, "fresh batches: theory, networks", **grey, **style.FINITE_SIZE)
    legend_entry(axes, "one batch, reused: networks", linestyle="none", **grey | style.OPEN)
    legend_entry(axes, "one step on all samples: theory", color="black", **_ONE_STEP)
    legend_entry(axes, f"one step, ${infinite}$: theory", **style.GUIDE)
    legend_entry(axes, BEST_LINEAR, **style.REFERENCE)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure, places = style.panels(6)
    data = data.isel(alpha_simulated=0, alpha=0)
    alpha = data["alpha_simulated"].item()
    simulated = np.isfinite(data["simulated_test_error_mean"].values)
    networks, theory = data.isel(curve=simulated), data.isel(curve=~simulated)
    stairs = xr.concat([panel_data(networks, name) for name in _STAIRS], "curve")
    networks = select(networks, activation="tanh")
    for i, target in enumerate(_TARGETS):
        simulations, solved = select(networks, target=target), select(theory, target=target)
        compounding(places[i], simulations, solved)
        budget(places[2 + i], solved)
        for place, of_limit in ((i, False), (2 + i, True)):
            axes = places[place]
            axes.axhline(simulations["best_linear_error"].values[0], **style.REFERENCE)
            title = shared_setting(simulations, alpha=alpha)
            if of_limit:
                simulations = simulations.drop_vars("dimension")
                title = shared_setting(simulations, alpha=alpha, dimension=np.inf)
            title_panel(axes, place, title)
            axes.set_ylabel(TEST_ERROR)
    for axes, (low, high) in zip(places, ((0.005, 0.2), (0.03, 0.8), (0.005, 0.3)), strict=False):
        axes.set_ylim(low, high)
        ticks(axes, "y", [tick for tick in _TICKS if low <= tick <= high])
    ticks(places[3], "y", _TICKS[2:])
    places[0].legend(loc="lower left", ncols=2)
    places[2].legend(loc="upper right")
    line_legend(places[1])
    handles, entries = places[1].get_legend_handles_labels()
    places[1].legend(handles[2:], entries[2:], loc="lower left")
    sine = select(networks, target="sin", alpha0=4.0, reuse_batch=0)
    of_panel = np.isin(sine["steps"], config["panels"]["rates"]["steps"])
    rates(places[4], sine.isel(curve=of_panel), by_rate(select(theory, target="sin"), 4.0))
    title_panel(places[4], 4, shared_setting(sine, alpha=alpha))
    places[4].set_ylabel(TEST_ERROR)
    staircases(places[5], stairs)
    title_panel(places[5], 5, shared_setting(stairs, alpha=alpha))
    places[5].set_ylim(0.6, 1.9)
    places[5].legend(loc="upper right", ncols=2)
    return figure
