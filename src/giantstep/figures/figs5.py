"""Figure S5: test error against the learning rate, its optimum, and the bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.arrays import Array
from giantstep.figures import style
from giantstep.figures.curves import (
    BULK_LABELS,
    heading,
    legend_beside,
    limits,
    markers,
    panel_data,
    setting,
)
from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED_NORMS

# How the theory of each bulk is drawn.
BULKS = {ISOTROPIC: style.DASHED, TRAINED_NORMS: "-"}


def line(axes: Axes, rates: Array, errors: Array, starred: bool = True, **look: Any) -> None:
    """Draw errors against the rates, and a star at the least, unless it is at an end."""
    axes.plot(rates, errors, **look)
    best = int(np.argmin(errors))
    if starred and 0 < best < rates.size - 1:
        axes.plot(rates[best], errors[best], color=look["color"], **style.STAR)


def batches(axes: Axes, theory: xr.Dataset, networks: xr.Dataset) -> None:
    """Draw a curve for each size of the first batch, at the simulated sample complexity."""
    alpha = networks["alpha_simulated"].values[0]
    sizes = np.unique(theory["alpha0"].values)
    for size, look in zip(sizes, style.cycle(sizes.size), strict=True):
        of_size = theory.isel(curve=np.flatnonzero(theory["alpha0"].values == size))
        for bulk, style_ in BULKS.items():
            curve = of_size.isel(curve=np.flatnonzero(of_size["bulk"].values == bulk))
            errors = curve["test_error"].sel(alpha=alpha).values
            place = {"color": look["color"], "linestyle": style_}
            line(axes, curve["learning_rate"].values, errors, starred=bulk != ISOTROPIC, **place)
        text = r"\infty" if np.isinf(size) else f"{size:g}"
        axes.plot([], [], label=rf"$\alpha_0 = {text}$", **look)
        # Theories of both bulks are beside the same networks.
        once = (networks["alpha0"].values == size) & (networks["bulk"].values == ISOTROPIC)
        shown = networks.isel(curve=np.flatnonzero(once), alpha_simulated=0)
        markers(axes, shown["learning_rate"], shown, "test_error", look)


def bounded(axes: Axes, theory: xr.Dataset, networks: xr.Dataset) -> None:
    """Draw errors at the best ridge, a curve each sample complexity, between their bounds."""
    one = theory.isel(curve=np.flatnonzero(theory["ridge"].values == theory["ridge"].values.min()))
    rates, simulated = one["learning_rate"].values, networks["alpha_simulated"].values
    for name, text, style_ in (
        ("upper_bound", "bound (26)", style.DASHED),
        ("lower_bound", "bound (27)", style.DOTTED),
    ):
        above: dict[str, Any] = {"color": "black", "linestyle": style_, "zorder": 3}
        line(axes, rates, one[name].values, label=text, **above)
    alphas = one["alpha"].values
    # Lines of large alpha are all but the same: the larger, the wider, and further behind.
    looks = list(zip(alphas, style.cycle(alphas.size), (1.6, 4.5), strict=True))
    for alpha, look, width in reversed(looks):
        errors = one["optimal_test_error"].sel(alpha=alpha).values
        line(axes, rates, errors, color=look["color"], linewidth=width, alpha=0.7)
        marked = alpha in simulated
        axes.plot(
            [], [], label=rf"$\alpha = {alpha:g}$", **(look if marked else look | {"marker": ""})
        )
        if marked:
            ridge = networks["ridge"].values == networks["ridge"].values.min()
            shown = networks.isel(curve=np.flatnonzero(ridge)).sel(alpha_simulated=alpha)
            markers(axes, shown["learning_rate"], shown, "optimal_test_error", look)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset, by its YAML."""
    figure = Figure(figsize=style.size(columns=1.35))
    places = figure.subplots(2, 1, sharex=True)
    theory, networks, best, of_best = (panel_data(data, name) for name in config["panels"])
    batches(places[0], theory, networks)
    for bulk, style_ in BULKS.items():
        places[0].plot([], [], color="grey", linestyle=style_, label=BULK_LABELS[bulk])
    limits(places[0], theory, {"best_linear": True})
    alpha = networks["alpha_simulated"].values[0]
    heading(places[0], 0, rf"{setting(theory)}, $\alpha = {alpha:g}$")
    bounded(places[1], best, of_best)
    heading(places[1], 1, r"$\alpha_0 = \infty$, at the best ridge")
    for axes in places:
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylabel(r"test error $\epsilon_g$")
        legend_beside(axes)
    places[1].set_xlabel(r"learning rate $\tilde\eta$")
    return figure
