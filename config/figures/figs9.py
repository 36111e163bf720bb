"""Figure S9: how much first layers learn of multi-index teachers, by leap, batch and steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import legends_under, theory_and_networks, ticks, title_panel
from giantstep.figures.labels import format_parameter
from giantstep.figures.selection import distinct, panel_data, select
from giantstep.problems.teachers import lookup_teacher


def total(curves: xr.Dataset) -> xr.Dataset:
    """Sum the shares of a row's first update over the directions of the teacher."""
    one = curves.sel(step=1)
    networks = one["simulated_update_overlap"].sum("direction", min_count=1)
    stderr = networks.std("network", ddof=1) / np.sqrt(networks.count("network"))
    simulated = {"simulated_total_mean": networks.mean("network"), "simulated_total_stderr": stderr}
    return xr.Dataset({"total": one["update_overlap"].sum("direction")} | simulated)


def after_one_step(axes: Axes, data: xr.Dataset, across: str) -> None:
    """Draw the share of a row's update in the teacher's subspace, a curve for each teacher."""
    pairs = zip(data["activation"].values, data["teacher"].values, strict=True)
    for (activation, teacher), look in style.looks(pairs).items():
        curves = select(data, activation=activation, teacher=teacher).sortby(across)
        odd = ", tanh" if activation == "tanh" else ""
        name = f"${lookup_teacher(teacher).label}${odd}"
        theory_and_networks(axes, total(curves), "total", look, name, along=across)
    axes.set_yscale("log")


def against_dimension(axes: Axes, data: xr.Dataset) -> None:
    """Draw what one step learns against the dimension, and what random rows have."""
    after_one_step(axes, data, "dimension")
    sizes = np.unique(data["dimension"].values)
    axes.plot(sizes, 1 / sizes, label="$1/d$", **style.GUIDE)
    axes.set_xscale("log")
    ticks(axes, "x", sizes)
    axes.set(xlabel="dimension $d$", ylabel="share of a row's change")
    axes.set_ylim(6e-4, 1.5)


def against_order(axes: Axes, data: xr.Dataset) -> None:
    """Draw what one step learns against the order of the batch in the dimension."""
    after_one_step(axes, data, "exponent")
    orders = np.unique(data["exponent"].values)
    axes.set(xticks=orders, ylim=(0.03, 1.2))
    ticks(axes, "y", (0.05, 0.1, 0.2, 0.5, 1))
    axes.set_xlabel(r"order $\kappa$ of the batch, $n_0 = \alpha_0 d^\kappa$")
    axes.set_ylabel("share of a row's change")


def overlaps_by_step(axes: Axes, data: xr.Dataset) -> None:
    """Draw the share of trained rows along each direction, after each step, at one dimension."""
    staircase, product = distinct(data, "teacher")
    shown = [(staircase, 1), (staircase, 2), (staircase, 3), (product, 1)]
    for (teacher, direction), look in style.looks(shown).items():
        curve = select(data, teacher=teacher).isel(curve=0).sel(direction=direction)
        name = f"$z_{direction}$" if teacher == staircase else r"$z_1$ of $z_1\,z_2$"
        theory_and_networks(axes, curve, "overlap", look, name, along="step")
    axes.set(yscale="log", ylim=(4e-4, 1.5), xlabel="steps", ylabel="share of a row")
    axes.minorticks_off()


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure, places = style.panels(5)
    proportional, quadratic, odd, orders, staircase = (
        panel_data(data, name) for name in config["panels"]
    )
    against_dimension(places[0], proportional)
    title_panel(places[0], 0, _batch(proportional, "d"))
    against_dimension(places[1], xr.concat([quadratic, odd], "curve"))
    title_panel(places[1], 1, _batch(quadratic, "d^2"))
    against_order(places[2], orders)
    title_panel(places[2], 2, f"${format_parameter('dimension', orders['dimension'].values[0])}$")
    for place, size in enumerate(np.unique(staircase["dimension"].values), 3):
        overlaps_by_step(places[place], select(staircase, dimension=size))
        own = f"${format_parameter('dimension', size)}$"
        title_panel(places[place], place, f"staircase, {own}, {_batch(staircase, 'd')}")
    legends_under(places)
    return figure


def _batch(data: xr.Dataset, unit: str) -> str:
    """Write the size of the batches."""
    return rf"$n_0 = {data['alpha0'].values[0]:g}\,{unit}$"
