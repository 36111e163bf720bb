"""Figure S21: kernels, steps and the best method, with the same samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import (
    error_bars,
    legend_entry,
    legends_under,
    ticks,
    title_panel,
)
from giantstep.figures.labels import BAYES_LABELS, TEST_ERROR
from giantstep.figures.selection import in_limit, panel_data, simulated

METHODS = ("kernel", "one", "five")
LABELS = ("kernel", "one step", "five steps")


def split(curves: xr.Dataset, values: Any, along: str) -> tuple[np.ndarray, np.ndarray]:
    """Select errors where half of the samples go to the steps; all of a kernel to the readout."""
    found = {}
    for i in range(curves.sizes["curve"]):
        steps = float(curves["alpha0"][i] * curves["steps"][i])
        of_curve = values.isel(curve=i)
        for alpha in [steps] if steps else curves[along].values:
            if np.abs(curves[along] / alpha - 1).min() < 1e-6:
                error = float(of_curve.sel({along: alpha}, method="nearest"))
                found[steps + float(alpha)] = error
    samples = np.array(sorted(found))
    return samples, np.array([found[total] for total in samples])


def methods(axes: Axes, data: xr.Dataset, suffix: str) -> None:
    """Draw the errors of all methods against all samples."""
    for method, label, look in zip(METHODS, LABELS, style.cycle(3), strict=True):
        curves = panel_data(data, method + suffix)
        curves = curves.isel(curve=curves["ridge"].values == curves["ridge"].values.min())
        axes.plot(
            *split(curves, in_limit(curves)["optimal_test_error"], "alpha"), color=look["color"]
        )
        mean, stderr = simulated(curves, "optimal_test_error")
        samples, means = split(curves, mean, "alpha_simulated")
        error_bars(axes, samples, means, split(curves, stderr, "alpha_simulated")[1], look)
        legend_entry(axes, label, **look)
        if method == "kernel":
            best_possible(axes, curves.isel(curve=0))


def best_possible(axes: Axes, curve: xr.Dataset) -> None:
    """Draw the least error of any method."""
    name = "bayes_optimal_error"
    line = {"color": "black", **style.BEST_POSSIBLE[name]}
    axes.plot(curve["alpha"], curve[name], label=BAYES_LABELS[name], **line)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure, places = style.panels(2)
    for i, (suffix, title) in enumerate((("", r"$\sin$"), ("_even", r"$|z|$"))):
        methods(places[i], data, suffix)
        places[i].set(xscale="log", xlabel="all samples$/d$", ylabel=TEST_ERROR, ylim=(0, None))
        ticks(places[i], "x", (0.2, 0.5, 1, 2, 5, 10))
        title_panel(places[i], i, title)
    legends_under(places)
    return figure
