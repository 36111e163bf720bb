"""Figure S15: errors after several steps on targets of several directions."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import finite_size_and_networks, legends_under
from giantstep.figures.labels import BEST_LINEAR
from giantstep.figures.selection import distinct, select
from giantstep.problems.targets import lookup_target


def staircases(axes: Axes, networks: xr.Dataset) -> None:
    """Draw errors over those of the best linear predictor after each step, for each target."""
    for target, look in style.looks(distinct(networks, "target")).items():
        curves = select(networks, target=target).sortby("steps")
        errors = ["test_error", "simulated_test_error_mean", "simulated_test_error_stderr"]
        scaled = curves.assign(curves[errors] / curves["best_linear_error"])
        label = f"${lookup_target(target).label}$"
        finite_size_and_networks(axes, scaled, "steps", look, label)
    axes.axhline(1, label=BEST_LINEAR, **style.REFERENCE)
    axes.set(xlabel="steps", ylabel="test error/best linear")


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure, (axes,) = style.panels(1)
    staircases(axes, data.isel(alpha_simulated=0, alpha=0))
    legends_under((axes,))
    return figure
