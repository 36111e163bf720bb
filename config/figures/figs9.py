"""Figure S9: how much first layers learn of multi-index teachers, by leap, batch and steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
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
from giantstep.problems.teachers import lookup_teacher

MEASURED = Path(__file__).with_name("figs9-shares.csv")


def curve(axes: Axes, rows: pd.DataFrame, along: str, look: style.Look, label: str) -> None:
    """Draw the theory of one curve as a line, and its networks as markers."""
    axes.plot(rows[along], rows["theory"], color=look["color"], **style.FINITE_SIZE)
    legend_entry(axes, label, **look, **style.FINITE_SIZE)
    error_bars(axes, rows[along], rows["mean"], rows["error"], look)


def after_one_step(axes: Axes, rows: pd.DataFrame, along: str) -> None:
    """Draw the share of a row's change in the teacher's subspace, a curve for each teacher."""
    groups = dict(tuple(rows.groupby(["activation", "teacher"], sort=False)))
    for (activation, teacher), look in style.looks(list(groups)).items():
        odd = ", tanh" if activation == "tanh" else ""
        name = f"${lookup_teacher(teacher).label}${odd}"
        curve(axes, groups[activation, teacher], along, look, name)
    axes.set(yscale="log", ylabel="share of a row's change")


def against_dimension(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw what one step learns against the dimension, and what random rows have."""
    after_one_step(axes, rows, "dimension")
    sizes = np.unique(rows["dimension"])
    axes.plot(sizes, 1 / sizes, label="$1/d$", **style.GUIDE)
    axes.set_xscale("log")
    ticks(axes, "x", sizes)
    axes.set(xlabel="dimension $d$", ylim=(6e-4, 1.5))


def against_order(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw what one step learns against the order of the batch in the dimension."""
    after_one_step(axes, rows, "exponent")
    axes.set(xticks=np.unique(rows["exponent"]), ylim=(0.03, 1.2))
    ticks(axes, "y", (0.05, 0.1, 0.2, 0.5, 1))
    axes.set_xlabel(r"order $\kappa$ of the batch, $n_0 = \alpha_0 d^\kappa$")


def by_step(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw the share of trained rows along each direction, after each step, at one dimension."""
    staircase, product = rows["teacher"].unique()
    shown = [(staircase, "1"), (staircase, "2"), (staircase, "3"), (product, "1")]
    for (teacher, direction), look in style.looks(shown).items():
        chosen = rows[(rows["teacher"] == teacher) & (rows["direction"] == direction)]
        name = f"$z_{direction}$" if teacher == staircase else r"$z_1$ of $z_1\,z_2$"
        curve(axes, chosen, "step", look, name)
    axes.set(yscale="log", ylim=(4e-4, 1.5), xlabel="steps", ylabel="share of a row")
    axes.minorticks_off()


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from what `benchmarks/what_steps_see.py` measured."""
    panels = dict(tuple(pd.read_csv(MEASURED, dtype={"direction": str}).groupby("panel")))
    figure, places = style.panels(5)
    for place, (order, unit) in enumerate([("1", "d"), ("2", "d^2")]):
        against_dimension(places[place], panels[f"dimension, {order}"])
        title_panel(places[place], place, f"$n_0 = 8\\,{unit}$")
    against_order(places[2], panels["order"])
    title_panel(places[2], 2, "$d = 48$")
    for place, (size, rows) in enumerate(panels["staircase"].groupby("dimension"), start=3):
        by_step(places[place], rows)
        title_panel(places[place], place, f"staircase, $d = {size}$, $n_0 = 64\\,d$")
    legends_under(places)
    return figure
