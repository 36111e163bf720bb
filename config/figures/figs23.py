"""Figure S23: power laws of inputs and target, without and after a step, and after several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import giantstep
from giantstep import Protocol
from giantstep.figures import style
from giantstep.figures.elements import (
    error_bars,
    finite_size_entry,
    legend_entry,
    legends_under,
    ticks,
    title_panel,
)
from giantstep.figures.labels import TEST_ERROR
from giantstep.figures.selection import at_dimension, in_limit, simulated

MEASURED = Path(__file__).with_name("figs23-steps.csv")
KINDS = {"none": "no step", "same": "$n_0 = n$", "large": "$n_0 = 100 d$"}
LOOKS = [style.look(style.NO_STEP), *style.cycle(3)[1:]]
# Samples of the readout over d at which nothing is left but the floor.
ALL = 1e6
DIMENSION = 400
THIN = {"linewidth": 0.6}
# Markers of the methods are shifted by these powers of a factor, but for those on a line.
POWERS, SHIFT = (-3, -2, -1, 1, 2, 0), 1.08
# Samples over d of a preconditioned step, and its learning rates.
LINE, RATES = 2.0 ** np.arange(-2, 6.1), 2.0 ** np.arange(-2, 4.1)


def curves_of(data: xr.Dataset, kind: str) -> xr.Dataset:
    """Select the curves of a kind, one for each batch."""
    named = np.isin(data["panel"], (kind, f"{kind}_ends"))
    chosen = data.isel(curve=np.flatnonzero(named))
    return chosen.isel(curve=np.flatnonzero(chosen["ridge"] == 0.1)).sortby("alpha0")


def along(curves: xr.Dataset, values: xr.DataArray, axis: str) -> tuple[np.ndarray, np.ndarray]:
    """Follow the only curve, or of several that whose batch is as large as the training set."""
    if curves.sizes["curve"] == 1:
        return curves[axis].values, values.isel(curve=0).values
    found = {}
    for i, alpha in enumerate(curves["alpha0"].values):
        if np.abs(curves[axis] / alpha - 1).min() < 1e-6:
            found[alpha] = values.isel(curve=i).sel({axis: alpha}, method="nearest").item()
    return np.array([*found]), np.array([*found.values()])


def floor(curves: xr.Dataset, dimension: float = np.inf) -> float:
    """Compute the error of infinitely many samples in batch and readout."""
    names = ("activation", "target", "learning_rate", "beta", "covariance", "target_decay")
    fields = {name: np.ravel(curves[name])[0].item() for name in names}
    batch = np.inf if fields["learning_rate"] else 0
    problem = Protocol(alpha0=batch, **fields)
    solved = giantstep.solve(problem, alpha=ALL, ridge="optimal", dimension=dimension)
    return solved.test_error.item()


def learning_curves(places: list[Axes], data: xr.Dataset) -> None:
    """Draw test errors, and how far they are above their floors."""
    error, excess = places
    name = "optimal_test_error"
    for (kind, label), look in zip(KINDS.items(), LOOKS, strict=True):
        curves, colour = curves_of(data, kind), look["color"]
        least, finite = floor(curves), floor(curves, DIMENSION)
        if kind != "large":  # of the same height
            error.axhline(least, **style.REFERENCE | {"color": colour})
        mean, stderr = simulated(curves, name)
        for axes, shift, below in ((error, 0.0, 0.0), (excess, least, finite)):
            alpha, values = along(curves, in_limit(curves)[name], "alpha")
            axes.plot(alpha, values - shift, color=colour)
            alpha, values = along(curves, at_dimension(curves, name), "alpha")
            axes.plot(alpha, values - below, color=colour, **style.FINITE_SIZE)
            alpha, values = along(curves, mean, "alpha_simulated")
            bars = along(curves, stderr, "alpha_simulated")[1]
            error_bars(axes, alpha, values - below, bars, look)
            legend_entry(axes, label, **look)
        steep = curves_of(data, f"{kind}_steep")
        alpha, values = along(steep, in_limit(steep)[name], "alpha")
        excess.plot(alpha, values - floor(steep), color=colour, **THIN)
    guide = np.array([0.25, 4])
    excess.plot(guide, 0.4 / np.sqrt(guide), **style.GUIDE)
    finite_size_entry(error, data, name)
    legend_entry(excess, "target weights $k^{-2.5}$", color="black", **THIN)
    for axes in places:
        axes.set(xscale="log", xlabel=r"$\alpha = n/d$")
        ticks(axes, "x", (0.1, 0.3, 1, 3, 10))
    error.set(ylabel=TEST_ERROR, ylim=(0, None))
    excess.set(ylabel="test error above the floor", yscale="log")
    ticks(excess, "y", (0.01, 0.03, 0.1, 0.3))


def preconditioned(samples: float) -> tuple[float, float]:
    """Compute the overlap and the test error after a step times the inverse covariance."""
    powers = {"covariance": "power:0.45", "target_decay": 1.5, "precondition": 1}
    problems = [Protocol("tanh", "sign", rate, samples, beta=2, **powers) for rate in RATES]
    best = {"alpha": 1, "ridge": "optimal", "dimension": DIMENSION}
    error = min(giantstep.solve(problem, **best).test_error.item() for problem in problems)
    return giantstep.equivalent_features(problems[0]).overlap, error


def several_steps(places: list[Axes], table: pd.DataFrame) -> None:
    """Draw the alignment and the error that several steps reach, and a preconditioned one."""
    methods = table.groupby("method", sort=False)
    for (label, rows), look, power in zip(methods, style.cycle(6), POWERS, strict=True):
        samples = rows["samples"] * SHIFT**power
        for axes, name, bar in zip(
            places, ("alignment", "test_error"), ("alignment_error", "error"), strict=True
        ):
            error_bars(axes, samples, rows[name], rows[bar], look)
            line = "-" if label == "preconditioned" else "none"
            legend_entry(axes, label, **look, linestyle=line)
    for axes, values in zip(places, zip(*map(preconditioned, LINE), strict=True), strict=True):
        axes.plot(LINE, values, color=look["color"])
    k = np.arange(1, DIMENSION + 1.0)
    s, t = k**-0.45, k**-1.5 / np.sum(k**-1.5)
    places[0].axhline(t @ s / np.sqrt(t @ s**2), **style.REFERENCE)
    for axes in places:
        axes.set(xscale="log", xlabel="samples of all batches$/d$")
        ticks(axes, "x", (0.25, 1, 4, 16, 64))
    places[0].set(ylabel=r"overlap with the target")
    places[1].set(ylabel=TEST_ERROR, ylim=(0, None))


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure, places = style.panels(4)
    learning_curves(places[:2], data)
    several_steps(places[2:], pd.read_csv(MEASURED))
    titles = "one step", "one step, above the floor", "several steps", "several steps"
    for i, (axes, title) in enumerate(zip(places, titles, strict=True)):
        title_panel(axes, i, title)
    legends_under(places)
    return figure
