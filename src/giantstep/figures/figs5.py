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
    bulk_entries,
    legend_beside,
    legend_entry,
    markers,
    title_panel,
)
from giantstep.figures.labels import (
    BOUND_LABELS,
    LEARNING_RATE,
    OPTIMAL_TEST_ERROR,
    TEST_ERROR,
    format_parameter,
    shared_setting,
)
from giantstep.figures.selection import in_limit, panel_data, select, smallest_ridge
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
        for bulk, style_ in _BULKS.items():
            curve = select(theory, alpha0=size, bulk=bulk)
            errors = curve["test_error"].sel(alpha=alpha).values
            place = {"color": look["color"], "linestyle": style_}
            line(axes, curve["learning_rate"].values, errors, starred=bulk != ISOTROPIC, **place)
        legend_entry(axes, f"${format_parameter('alpha0', size)}$", **look)
        # Curves of both bulks have the same networks.
        shown = select(networks, alpha0=size, bulk=ISOTROPIC).isel(alpha_simulated=0)
        markers(axes, shown["learning_rate"], shown, "test_error", look)


def bounded(axes: Axes, theory: xr.Dataset, networks: xr.Dataset) -> None:
    """Draw errors at the best ridge, a curve for each sample complexity, and their bounds."""
    one, networks = smallest_ridge(theory), smallest_ridge(networks)
    rates, simulated = one["learning_rate"].values, networks["alpha_simulated"].values
    for name, look in style.BOUNDS.items():
        line(axes, rates, one[name].values, label=BOUND_LABELS[name], zorder=3, **look)
    alphas = one["alpha"].values
    # Lines of large alpha nearly coincide: the larger alpha, the wider and the further behind.
    looks = list(zip(alphas, style.cycle(2, style.COLOURS[::5]), (2.0, 5.0), strict=True))
    for alpha, look, width in reversed(looks):
        errors = one["optimal_test_error"].sel(alpha=alpha).values
        line(axes, rates, errors, color=look["color"], linewidth=width)
        marked = alpha in simulated
        entry = look if marked else look | {"marker": ""}
        legend_entry(axes, f"${format_parameter('alpha', alpha)}$", **entry)
        if marked:
            shown = networks.sel(alpha_simulated=alpha)
            markers(axes, shown["learning_rate"], shown, "optimal_test_error", look)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    data = in_limit(data)
    figure = Figure(figsize=style.size(columns=1.35))
    places = figure.subplots(2, 1, sharex=True)
    theory, networks, best, of_best = (panel_data(data, name) for name in config["panels"])
    batches(places[0], theory, networks)
    bulk_entries(places[0], _BULKS, "grey")
    best_linear(places[0], theory)
    alpha = networks["alpha_simulated"].values[0]
    title_panel(places[0], 0, shared_setting(theory, alpha=alpha))
    bounded(places[1], best, of_best)
    title_panel(places[1], 1, shared_setting(best))
    for axes in places:
        axes.set(xscale="log", yscale="log")
        legend_beside(axes)
    places[0].set_ylabel(TEST_ERROR)
    places[1].set(ylabel=OPTIMAL_TEST_ERROR, xlabel=LEARNING_RATE)
    return figure
