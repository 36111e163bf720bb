"""Figure S17: several steps on one batch, on targets that one step does not see, and on a sine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import (
    error_bars,
    finite_size_and_networks,
    legend_entry,
    legends_under,
    title_panel,
)
from giantstep.figures.labels import TEST_ERROR
from giantstep.figures.selection import distinct, in_limit, panel_data, select
from giantstep.problems.targets import lookup_target

MEASURED = Path(__file__).with_name("figs17-overlaps.csv")


def overlaps(axes: Axes, curves: xr.Dataset) -> None:
    """Draw the overlap of the spike with the target after each step."""
    measured = pd.read_csv(MEASURED)
    for target, look in style.looks(distinct(curves, "target")).items():
        of_target = in_limit(select(curves, target=target).sortby("steps"))
        axes.plot(of_target["steps"], of_target["alignment"], color=look["color"])
        rows = measured[measured["target"] == target]
        error_bars(axes, rows["steps"], rows["overlap"], rows["error"], look)
        legend_entry(axes, f"${lookup_target(target).label}$", **look)
    axes.set(xlabel="steps", ylabel=r"overlap $\gamma$")


def errors(axes: Axes, curves: xr.Dataset, name: str, label: Any, unit: Any = None) -> None:
    """Draw test errors after each step, a line for each value of a parameter."""
    for value, look in style.looks(distinct(curves, name)).items():
        of_value = select(curves, **{name: value}).sortby("steps")
        parts = "test_error", "simulated_test_error_mean", "simulated_test_error_stderr"
        size = unit(value) if unit else 1.0
        scaled = of_value.assign({part: of_value[part] / size for part in parts})
        finite_size_and_networks(axes, scaled, "steps", look, label(value))
    axes.set(xlabel="steps")


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure, (first, second, third) = style.panels(3)
    unseen, seen = (panel_data(data, panel) for panel in ("unseen", "seen"))
    unseen, powers = unseen.isel(alpha_simulated=1, alpha=1), {"he3": 6.0, "z1*z2": 1.0}
    overlaps(first, unseen)
    errors(second, unseen, "target", lambda name: f"${lookup_target(name).label}$", powers.get)
    second.axhline(1, label="predicting zero", **style.REFERENCE)
    second.set_ylabel("test error/predicting zero")
    errors(third, seen.isel(alpha_simulated=0, alpha=0), "activation", str)
    third.set_ylabel(TEST_ERROR)
    titles = "direction", r"$\mathrm{He}_3$ and $z_1 z_2$", "sine"
    for place, (axes, text) in enumerate(zip((first, second, third), titles, strict=True)):
        title_panel(axes, place, text)
    legends_under((first, second, third))
    return figure
