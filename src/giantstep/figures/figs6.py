"""Figure S6: bias and spread of networks of finite size, against the dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.curves import BULK_LABELS, heading, setting


def chosen(data: xr.Dataset, alpha0: float, bulk: str) -> xr.Dataset:
    """Select the curves of one first batch and one bulk, by dimension."""
    wanted = (data["alpha0"].values == alpha0) & (data["bulk"].values == bulk)
    return data.isel(curve=np.flatnonzero(wanted), alpha=0, alpha_simulated=0).sortby("dimension")


def biases(axes: Axes, data: xr.Dataset) -> None:
    """Draw simulated mean minus theory, over theory, with lines of the least squares in 1/d."""
    pairs = [
        (a, b) for a in np.unique(data["alpha0"].values) for b in np.unique(data["bulk"].values)
    ]
    pairs = [(a, b) for a, b in pairs if a > 0 or b == "isotropic"]
    for (alpha0, bulk), look in zip(pairs, style.cycle(len(pairs)), strict=True):
        curve = chosen(data, alpha0, bulk)
        mean, stderr = (
            100 * (curve[f"simulated_test_error_{part}"] / curve["test_error"]).values
            for part in ("mean", "stderr")
        )
        inverse = 1 / curve["dimension"].values
        text = "no step" if alpha0 == 0 else BULK_LABELS[bulk]
        axes.errorbar(inverse, mean - 100, stderr, linestyle="none", label=text, **look)
        fit = np.polynomial.Polynomial.fit(inverse, mean - 100, 1, w=1 / stderr)
        ends = np.array([0, inverse.max()])
        axes.plot(ends, fit(ends), color=look["color"])
    axes.axhline(0, color="black", linewidth=0.6)
    axes.set_xlim(left=0)
    axes.set_xlabel("$1/d$")
    axes.set_ylabel("simulation over theory, less one [%]")


def spreads(axes: Axes, data: xr.Dataset) -> None:
    """Draw what networks, and training sets, add to the spread of the test error."""
    looks = iter(style.cycle(4))
    for alpha0 in np.unique(data["alpha0"].values):
        curve = chosen(data, alpha0, "isotropic")
        for level in ("network", "training"):
            look = next(looks)
            variance = curve[f"simulated_test_error_{level}_variance"].values
            spread = 100 * np.sqrt(np.maximum(variance, 0)) / curve["test_error"].values
            step = "no step" if alpha0 == 0 else rf"$\alpha_0 = {alpha0:g}$"
            axes.plot(1 / curve["dimension"], spread, label=f"{level}s, {step}", **look)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("$1/d$")
    axes.set_ylabel("standard deviation over theory [%]")


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset, by its YAML."""
    figure = Figure(figsize=style.size(columns=2))
    left, right = figure.subplots(1, 2)
    biases(left, data)
    heading(left, 0, setting(data))
    spreads(right, data)
    heading(right, 1, "spread of single networks")
    for axes in (left, right):
        axes.legend()
    return figure
