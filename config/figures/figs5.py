"""Figure S5: test error against the learning rate, with its optimum and its bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.arrays import Array
from giantstep.figures import style
from giantstep.figures.elements import (
    best_linear,
    error_bars,
    legend_entry,
    legends_under,
    markers,
    title_panel,
)
from giantstep.figures.labels import (
    BOUND_LABELS,
    BULK_LABELS,
    LEARNING_RATE,
    TEST_ERROR,
    format_parameter,
    panel_setting,
)
from giantstep.figures.selection import in_limit, panel_data, select, simulated, smallest_ridge
from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED

_BULKS = style.bulk_lines((ISOTROPIC, TRAINED))


def line(axes: Axes, rates: Array, errors: Array, starred: bool = True, **look: Any) -> None:
    """Draw errors against learning rates, with a star at the least unless it is at an end."""
    axes.plot(rates, errors, **look)
    best = int(np.argmin(errors))
    if starred and 0 < best < rates.size - 1:
        axes.plot(rates[best], errors[best], color=look["color"], **style.STAR)


def batches(axes: Axes, theory: xr.Dataset, networks: xr.Dataset) -> None:
    """Draw a curve for each size of the first batch, at the simulated sample complexity."""
    alpha = networks["alpha_simulated"].values[0]
    for size, look in style.looks(np.unique(theory["alpha0"].values)).items():
        for bulk, line_ in _BULKS.items():
            curve = select(theory, alpha0=size, bulk=bulk)
            errors = curve["test_error"].sel(alpha=alpha).values
            place = {"color": look["color"], **line_}
            line(axes, curve["learning_rate"].values, errors, starred=bulk != ISOTROPIC, **place)
        legend_entry(axes, f"${format_parameter('alpha0', size)}$", **look)
        # Curves of both bulks have the same networks.
        shown = select(networks, alpha0=size, bulk=ISOTROPIC).isel(alpha_simulated=0)
        markers(axes, shown["learning_rate"], shown, "test_error", look)


def bounded(axes: Axes, theory: xr.Dataset, networks: xr.Dataset) -> None:
    """Draw errors at the best ridge over their upper bound, and the lower bound likewise."""
    one, networks = smallest_ridge(theory), smallest_ridge(networks)
    rates = one["learning_rate"].values
    upper = one["upper_bound"]
    for name, bound in style.BOUNDS.items():
        axes.plot(rates, one[name] / upper, label=BOUND_LABELS[name], zorder=1, **bound)
    alphas = one["alpha"].values
    for alpha, look in zip(alphas, style.looks(alphas.tolist()).values(), strict=True):
        axes.plot(rates, one["optimal_test_error"].sel(alpha=alpha) / upper, color=look["color"])
        marked = alpha in networks["alpha_simulated"].values
        entry = look if marked else look | {"marker": ""}
        legend_entry(axes, f"${format_parameter('alpha', alpha)}$", **entry)
        if marked:
            shown = networks.sel(alpha_simulated=alpha)
            errors = simulated(shown, "optimal_test_error")
            ratio, stderr = (values / shown["upper_bound"] for values in errors)
            error_bars(axes, shown["learning_rate"], ratio, stderr, look)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    data = in_limit(data)
    figure, places = style.panels(2)
    theory, networks, best, of_best = (panel_data(data, name) for name in config["panels"])
    batches(places[0], theory, networks)
    for bulk, look in _BULKS.items():
        legend_entry(places[0], f"theory, {BULK_LABELS[bulk]}", color="black", **look)
    best_linear(places[0], theory)
    title_panel(places[0], 0, panel_setting(theory, data))
    bounded(places[1], best, of_best)
    title_panel(places[1], 1, rf"${format_parameter('alpha0', np.inf)}$, best ridge")
    places[0].set(yscale="log", ylabel=TEST_ERROR)
    places[1].set(ylim=(0, 1.35), ylabel="test error/upper bound")
    for axes in places:
        axes.set(xscale="log", xlabel=LEARNING_RATE)
    legends_under(places)
    return figure
