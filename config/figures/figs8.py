"""Figure S8: several gradient steps, on fresh batches and on one, and their learning rate."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import (
    best_linear,
    finite_size_line,
    legend_entry,
    legends_under,
    markers,
    ticks,
    title_panel,
)
from giantstep.figures.labels import LEARNING_RATE, TEST_ERROR, format_parameter
from giantstep.figures.selection import select

TARGETS = ("sin", "sign")
# One step, beside several.
ONE_STEP: dict[str, Any] = {"linewidth": 0.7}
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)


def star(axes: Axes, x: float, y: float, text: str, look: style.Look, above: bool = False) -> None:
    """Mark a point with a star, and with a number below or above it."""
    axes.plot(x, y, color=look["color"], **style.STAR)
    at, colour = (0, 5 if above else -11), look["color"]
    axes.annotate(
        text, (x, y), at, "data", "offset points", ha="center", fontsize=7.5, color=colour
    )


def by_learning_rate(curves: xr.Dataset, alpha0: float) -> xr.DataArray:
    """Select the theory's test errors by learning rate and step, without steps that have none."""
    errors = select(curves, alpha0=alpha0)["test_error_by_learning_rate"].isel(curve=0)
    return errors.dropna("step", how="all")


def at_best_rate(curves: xr.Dataset, alpha0: float) -> xr.DataArray:
    """Compute the theory's test error after each step, at the best rate of all steps to it.

    It is missing where no larger rate has an error, so that the best may be larger still.
    """
    errors = by_learning_rate(curves, alpha0)
    best = errors.argmin("theory_learning_rate")
    next_larger = errors.shift(theory_learning_rate=-1).isel(theory_learning_rate=best)
    return errors.isel(theory_learning_rate=best).where(next_larger.notnull())


def at_best_simulated_rate(curves: xr.Dataset) -> xr.Dataset:
    """Select, for each number of steps, the curve with the smallest simulated test error."""
    steps, errors = curves["steps"].values, curves["simulated_test_error_mean"].values
    places = (np.flatnonzero(steps == count) for count in np.unique(steps))
    return curves.isel(curve=[place[np.argmin(errors[place])] for place in places])


def trajectories(axes: Axes, curves: xr.Dataset, look: style.Look) -> None:
    """Draw errors at the better simulated rate: fresh batches and a reused one."""
    for reuse, face in ((0, {}), (1, style.OPEN)):
        best = at_best_simulated_rate(select(curves, reuse_batch=reuse))
        finite_size_line(axes, best["steps"], best, "test_error", look["color"])
        markers(axes, best["steps"], best, "test_error", look | face)


def compounding(axes: Axes, networks: xr.Dataset, theory: xr.Dataset) -> None:
    """Draw errors after each step, and those of one step on all the samples at once."""
    for alpha0, look in style.looks((1.0, 4.0)).items():
        trajectories(axes, select(networks, alpha0=alpha0), look)
        label = f"${format_parameter('alpha0', alpha0)}$"
        legend_entry(axes, label, **look, **style.FINITE_SIZE)
        counts = range(1, 6)
        errors = [float(at_best_rate(theory, alpha0 * k).sel(step=1)) for k in counts]
        axes.plot(counts, errors, color=look["color"], **ONE_STEP)
    axes.set(yscale="log", xlabel="steps")
    axes.set_xticks(range(1, 6))


def rates(axes: Axes, networks: xr.Dataset, theory: xr.DataArray) -> None:
    """Draw errors against the learning rate, a curve for each number of steps."""
    for count, look in style.looks(np.unique(networks["steps"].values)).items():
        line = theory.sel(step=count).dropna("theory_learning_rate")
        x = line["theory_learning_rate"]
        axes.plot(x, line, color=look["color"])
        least = int(np.argmin(line.values))
        star(axes, float(x[least]), float(line[least]), f"{x[least]:.1f}", look, above=True)
        of_count = select(networks, steps=count)
        markers(axes, of_count["learning_rate"], of_count, "test_error", look)
        legend_entry(axes, "1 step" if count == 1 else f"{count:g} steps", **look)
    axes.set(xscale="log", yscale="log")
    axes.set_xlim(0.3, 13)
    ticks(axes, "x", np.unique(networks["learning_rate"].values))
    axes.set(xlabel=LEARNING_RATE, ylim=(0.004, None))
    ticks(axes, "y", (0.005, 0.01, 0.02, 0.05, 0.1))


def line_legend(axes: Axes) -> None:
    """Add legend entries for the lines and markers that panels share."""
    grey = style.look("grey")
    legend_entry(axes, "fresh batches", **grey, **style.FINITE_SIZE)
    legend_entry(axes, "one batch, reused", **grey | style.OPEN, **style.FINITE_SIZE)
    legend_entry(axes, "one step, all samples", color="grey", **ONE_STEP)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure, places = style.panels(3)
    data = data.isel(alpha_simulated=0, alpha=0)
    simulated = np.isfinite(data["simulated_test_error_mean"].values)
    networks, theory = data.isel(curve=simulated), data.isel(curve=~simulated)
    for i, target in enumerate(TARGETS):
        simulations, solved = select(networks, target=target), select(theory, target=target)
        compounding(places[i], simulations, solved)
        title_panel(places[i], i, f"{target}")
        ticks(places[i], "y", _TICKS)
        line_legend(places[i])
        best_linear(places[i], simulations)
    sine = select(networks, target="sin", alpha0=4.0, reuse_batch=0)
    of_panel = np.isin(sine["steps"], config["panels"]["rates"]["steps"])
    rates(places[2], sine.isel(curve=of_panel), by_learning_rate(select(theory, target="sin"), 4.0))
    title_panel(places[2], 2, f"sin, ${format_parameter('alpha0', 4.0)}$")
    for axes in places:
        axes.set_ylabel(TEST_ERROR)
    legends_under(places)
    places[0].set_ylim(0.008, 0.2)
    places[1].set_ylim(0.2, 0.8)
    return figure
