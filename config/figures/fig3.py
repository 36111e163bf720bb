"""Figure 3: the bounds on the test error, the functions that attain them, and errors between."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import (
    legends_under,
    theory_and_networks,
    theory_entries,
    title_panel,
)
from giantstep.figures.labels import (
    BOUND_LABELS,
    OPTIMAL_TEST_ERROR,
    SAMPLE_COMPLEXITY,
    format_parameter,
)
from giantstep.figures.selection import select


def functions(axes: Axes, curve: xr.Dataset) -> None:
    """Draw the target, and the closest functions that a readout can form."""
    kappa = curve["kappa"]
    axes.plot(kappa, curve["conditional_target"], label=r"target $\sigma_\star$", **style.TARGET)
    for name, look in style.BOUNDS.items():
        function = curve[f"{name}_function"]
        symbol = function.attrs["symbol"]
        axes.plot(kappa, function, label=f"${symbol}$", **look)
    axes.set(xlabel=r"projection on the spike $\kappa$", ylabel="output")


def errors(axes: Axes, data: xr.Dataset) -> None:
    """Draw the error at the best ridge (of networks, the nearest simulated), and the bounds."""
    first = data.isel(curve=0)
    for name, look in style.BOUNDS.items():
        axes.axhline(first[name].item(), label=BOUND_LABELS[name], **look)
    for width, look in style.looks(np.unique(data["beta"].values)).items():
        curve = select(data, beta=width).isel(curve=0)
        label = f"${format_parameter('beta', width)}$"
        theory_and_networks(axes, curve, "optimal_test_error", look, label)
    theory_entries(axes, data, "optimal_test_error")
    axes.set(xscale="log", xlabel=SAMPLE_COMPLEXITY, ylabel=OPTIMAL_TEST_ERROR)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure, (left, right) = style.panels(2)
    functions(left, data.isel(curve=0))
    title_panel(left, 0, "functions")
    errors(right, data)
    right.set_ylim(bottom=0)
    title_panel(right, 1, "errors")
    legends_under((left, right))
    return figure
