"""Figure S9: what first layers see of multi-index teachers, by leap, batch and steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.curves import heading, markers, only, panel_data
from giantstep.problems.teachers import lookup_teacher


def total(curves: xr.Dataset) -> xr.Dataset:
    """Add the shares of a row's change up over the directions, after one step."""
    one = curves.sel(step=1)
    networks = one["simulated_update_overlap"].sum("direction", min_count=1)
    return xr.Dataset(
        {
            "theory": one["update_overlap"].sum("direction"),
            "simulated_total_mean": networks.mean("network"),
            "simulated_total_stderr": networks.std("network", ddof=1)
            / np.sqrt(networks.count("network")),
        }
    )


def after_one_step(axes: Axes, data: xr.Dataset, across: str) -> None:
    """Draw the share of a row's change in the teacher's subspace, a curve each teacher."""
    pairs = zip(data["activation"].values, data["teacher"].values, strict=True)
    teachers = list(dict.fromkeys(pairs))
    for (activation, teacher), look in zip(teachers, style.cycle(len(teachers)), strict=True):
        curves = only(data, activation=activation, teacher=teacher).sortby(across)
        found = total(curves)
        axes.plot(found[across], found["theory"], color=look["color"])
        markers(axes, found[across], found, "total", look)
        name = f"${lookup_teacher(teacher).label}$"
        odd = r" ($\sigma = \tanh$)" if activation == "tanh" else ""
        axes.plot([], [], label=name + odd, **look)
    axes.set_yscale("log")


def against_dimension(axes: Axes, data: xr.Dataset) -> None:
    """Draw what one step sees against the dimension, and what chance would be."""
    after_one_step(axes, data, "dimension")
    sizes = np.unique(data["dimension"].values)
    axes.plot(sizes, 1 / sizes, color="black", linestyle=style.DASHED, label="$1/d$")
    axes.set_xscale("log")
    axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
    axes.minorticks_off()
    axes.set_xlabel("$d$")
    axes.set_ylabel("share of a row's change seen")
    axes.set_ylim(1e-4, 1.5)


def against_order(axes: Axes, data: xr.Dataset) -> None:
    """Draw what one step sees against the order of the batch in the dimension."""
    after_one_step(axes, data, "exponent")
    orders = np.unique(data["exponent"].values)
    axes.set_xticks(orders)
    axes.set_ylim(0.03, 1.2)
    axes.set_yticks([0.05, 0.1, 0.2, 0.5, 1], ["0.05", "0.1", "0.2", "0.5", "1"])
    axes.minorticks_off()
    axes.set_xlabel(r"order $\kappa$ of the batch, $n_0 = \alpha_0 d^\kappa$")
    axes.set_ylabel("share of a row's change seen")


def climbing(axes: Axes, data: xr.Dataset) -> None:
    """Draw the share of trained rows along each direction, after each step."""
    sizes = np.unique(data["dimension"].values)
    staircase, product = dict.fromkeys(data["teacher"].values)
    shown = [(staircase, 1), (staircase, 2), (staircase, 3), (product, 1)]
    for (teacher, direction), look in zip(shown, style.cycle(len(shown)), strict=True):
        for size, line in zip(sizes, (style.DOTTED, "-"), strict=True):
            curve = only(data, teacher=teacher, dimension=size).isel(curve=0)
            curve = curve.sel(direction=direction)
            steps = curve["step"].values
            axes.plot(steps, curve["simulated_overlap_mean"], color=look["color"], linestyle=line)
            markers(axes, steps, curve, "overlap", look)
        name = f"z_{direction}$" if teacher == staircase else r"z_1$ of $z_1\,z_2$"
        axes.plot([], [], label=f"${name}", **look)
    for size, line in zip(sizes, (style.DOTTED, "-"), strict=True):
        axes.plot([], [], color="grey", linestyle=line, label=f"$d = {size:g}$")
    axes.set_yscale("log")
    axes.set_ylim(4e-4, 9)
    axes.set_xlabel("steps")
    axes.set_ylabel("share of a row")


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset, by its YAML."""
    figure = Figure(figsize=style.size(2, 2))
    places = figure.subplots(2, 2).ravel()
    proportional, quadratic, odd, orders, staircase = (
        panel_data(data, name) for name in config["panels"]
    )
    against_dimension(places[0], proportional)
    heading(places[0], 0, rf"$n_0 = {proportional['alpha0'].values[0]:g}\,d$")
    against_dimension(places[1], xr.concat([quadratic, odd], "curve"))
    heading(places[1], 1, rf"$n_0 = {quadratic['alpha0'].values[0]:g}\,d^2$")
    against_order(places[2], orders)
    size, ratio = orders["dimension"].values[0], orders["alpha0"].values[0]
    heading(places[2], 2, rf"$d = {size:g}$, $\alpha_0 = {ratio:g}$")
    climbing(places[3], staircase)
    name, ratio = (
        lookup_teacher(config["panels"]["staircase"]["teacher"][0]).label,
        staircase["alpha0"].values[0],
    )
    heading(places[3], 3, rf"${name}$, $n_0 = {ratio:g}\,d$")
    places[0].legend(loc="lower left", ncols=2)
    places[1].legend(loc="lower left", ncols=2)
    places[3].legend(loc="upper right", ncols=3)
    return figure
