"""Figure S6: bias and spread of networks of finite size, against the dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.curves import BULK_LABELS, heading, setting
from giantstep.problems.bulk_kind import ISOTROPIC

# How far apart, in shares of their distance, the markers of one dimension stand.
_OFFSET = 0.06


def chosen(data: xr.Dataset, alpha0: float, bulk: str) -> xr.Dataset:
    """Select the curves of one first batch and one bulk, by dimension."""
    wanted = (data["alpha0"].values == alpha0) & (data["bulk"].values == bulk)
    return data.isel(curve=np.flatnonzero(wanted), alpha=0, alpha_simulated=0).sortby("dimension")


def biases(axes: Axes, data: xr.Dataset) -> None:
    """Draw simulated mean over theory, less one; without a step all bulks are the same."""
    axes.axhline(0, color="black", linewidth=0.6)
    batches, bulks = (list(dict.fromkeys(data[name].values)) for name in ("alpha0", "bulk"))
    pairs = [(a, b) for a in batches for b in bulks if a > 0 or b == ISOTROPIC]
    for i, look in enumerate(style.cycle(len(pairs))):
        alpha0, bulk = pairs[i]
        curve = chosen(data, alpha0, bulk)
        mean, stderr = (
            100 * (curve[f"simulated_test_error_{part}"] / curve["test_error"])
            for part in ("mean", "stderr")
        )
        text = "no step" if alpha0 == 0 else rf"$\alpha_0 = {alpha0:g}$, {BULK_LABELS[bulk]}"
        x = np.exp(_OFFSET * (i - 1)) / curve["dimension"]
        axes.errorbar(x, mean - 100, stderr, linestyle="none", label=text, **look)
    axes.set_ylim(top=3.2)  # room for the legend
    axes.set_ylabel("mean over theory, less one [%]")


def spreads(axes: Axes, data: xr.Dataset) -> None:
    """Draw what networks, and training sets, add to the spread of the test error."""
    pairs = [(a, b) for a in np.unique(data["alpha0"].values) for b in ("network", "training")]
    for (alpha0, level), look in zip(pairs, style.cycle(len(pairs)), strict=True):
        curve = chosen(data, alpha0, ISOTROPIC)
        variance = curve[f"simulated_test_error_{level}_variance"]
        spread = 100 * np.sqrt(np.maximum(variance, 0)) / curve["test_error"]
        step = "no step" if alpha0 == 0 else rf"$\alpha_0 = {alpha0:g}$"
        what = "networks" if level == "network" else "training sets"
        axes.plot(1 / curve["dimension"], spread, label=f"{what}, {step}", **look)
    ends = 1 / np.sort(np.unique(data["dimension"].values))[[0, -1]]
    guide = 8 * np.sqrt(ends / ends.max())
    axes.plot(ends, guide, color="black", linestyle=style.DASHED, label=r"$\propto d^{-1/2}$")
    axes.set_yscale("log")
    axes.set_yticks([0.5, 1, 2, 5, 10], ["0.5", "1", "2", "5", "10"])
    axes.set_ylim(0.15, 11)
    axes.set_ylabel("standard deviation over theory [%]")


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset, by its YAML."""
    figure = Figure(figsize=style.size(columns=2))
    left, right = figure.subplots(1, 2)
    biases(left, data)
    heading(left, 0, setting(data))
    left.legend(loc="upper right")
    spreads(right, data)
    heading(right, 1, "spread of single networks")
    right.legend(loc="lower right", ncols=2, columnspacing=0.8, handletextpad=0.4)
    sizes = np.unique(data["dimension"].values)
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xticks(1 / sizes, [f"1/{size:g}" for size in sizes])
        axes.minorticks_off()
        axes.set_xlabel("$1/d$")
    return figure
