"""Figure S6: bias and spread of the test error of networks, against their dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import error_bars, legends_under, ticks, title_panel
from giantstep.figures.labels import BULK_LABELS, RELATIVE_GAP, format_parameter
from giantstep.figures.selection import distinct, in_limit, relative_gap, select
from giantstep.problems.bulk_kind import ISOTROPIC

# Markers at the same dimension are shifted by multiples of this, in the logarithm.
_OFFSET = 0.06
# What the test error varies with: marker, face and name.
_LEVELS: dict[str, tuple[str, style.Look, str]] = {
    "network": ("o", {}, "networks"),
    "training": ("s", style.OPEN, "training sets"),
}


def by_dimension(data: xr.Dataset, alpha0: float, bulk: str) -> xr.Dataset:
    """Select the curves of one first batch and one bulk, ordered by dimension."""
    curves = select(data, alpha0=alpha0, bulk=bulk)
    return curves.isel(alpha=0, alpha_simulated=0).sortby("dimension")


def biases(axes: Axes, data: xr.Dataset) -> None:
    """Draw the relative gap between networks and theory; without a step all bulks are the same."""
    axes.axhline(0, **style.GUIDE)
    batches, bulks = distinct(data, "alpha0"), distinct(data, "bulk")
    pairs = [(a, b) for a in batches for b in bulks if a > 0 or b == ISOTROPIC]
    for i, (alpha0, bulk) in enumerate(pairs):
        colour = style.BULK_COLOURS[bulk] if alpha0 > 0 else style.NO_STEP
        curve, look = by_dimension(data, alpha0, bulk), style.look(colour, style.MARKERS[i])
        text = _step(alpha0) + (f", {BULK_LABELS[bulk]}" if alpha0 > 0 else "")
        x = curve["dimension"] * np.exp(_OFFSET * (i - 1))
        error_bars(axes, x, *relative_gap(curve), look, label=text)
    axes.set_ylabel(RELATIVE_GAP)


def _step(alpha0: float) -> str:
    return "no step" if alpha0 == 0 else f"${format_parameter('alpha0', alpha0)}$"


def spreads(axes: Axes, data: xr.Dataset, config: dict[str, Any]) -> None:
    """Draw the spread of the test error over networks, and over training sets."""
    colours = {0.0: style.NO_STEP, 2.0: style.COLOURS[1]}
    pairs = [(alpha0, level) for alpha0 in colours for level in _LEVELS]
    for i, (alpha0, level) in enumerate(pairs):
        curve = by_dimension(data, alpha0, ISOTROPIC)
        networks = [config["panels"][name]["networks"] for name in curve["panel"].values]
        marker, face, what = _LEVELS[level]
        x = curve["dimension"] * np.exp(_OFFSET * (i - 1.5))
        look = style.look(colours[alpha0], marker) | face
        spread = deviation(curve, level, np.array(networks))
        error_bars(axes, x, *spread, look, label=f"{what}, {_step(alpha0)}")
    ends = np.unique(data["dimension"].values)[[0, -1]]
    guide = 8 * np.sqrt(ends[0] / ends)
    axes.plot(ends, guide, label=r"$\propto d^{-1/2}$", **style.GUIDE)
    axes.set_yscale("log")
    ticks(axes, "y", (0.5, 1, 2, 5, 10))
    axes.set(ylim=(0.3, 11), ylabel="std. deviation/theory [%]")


def deviation(
    curve: xr.Dataset, level: str, networks: np.ndarray
) -> tuple[xr.DataArray, xr.DataArray]:
    """Compute the spread over networks or training sets in percent, and its standard error.

    The latter is that of normal errors.
    """
    sets = curve.sizes["training"]
    variance = curve[f"simulated_test_error_{level}_variance"].clip(0)
    within = curve["simulated_test_error_training_variance"] ** 2 / (networks * (sets - 1))
    between = curve["simulated_test_error_stderr"] ** 4 * networks**2 / (networks - 1)
    noise = within if level == "training" else between + within / sets**2
    spread, unit = np.sqrt(variance), 100 / curve["test_error"]
    return unit * spread, unit * np.sqrt(noise / 2) / spread


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    data = in_limit(data)
    figure, (left, right) = style.panels(2)
    biases(left, data)
    title_panel(left, 0, "mean")
    spreads(right, data, config)
    title_panel(right, 1, "spread")
    legends_under((left, right))
    sizes = np.unique(data["dimension"].values)
    for axes in (left, right):
        axes.set_xscale("log")
        ticks(axes, "x", sizes)
        axes.set_xlabel("dimension $d$")
    return figure
