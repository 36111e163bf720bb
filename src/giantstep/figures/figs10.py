"""Figure S10: label noise, and biases of the neurons with the bounds that they lower."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.curves import (
    heading,
    label,
    learning_curves,
    legend_above,
    limits,
    markers,
    panel_data,
    setting,
)

# Where the bias that training would choose is shown.
SHOWN_ALPHA = 2.0


def noise(axes: Axes, data: xr.Dataset) -> None:
    """Draw test errors at the best ridge, simulated at the nearest."""
    for i, look in enumerate(style.cycle(data.sizes["curve"])):
        curve = data.isel(curve=i)
        axes.plot(curve["alpha"], curve["optimal_test_error"], color=look["color"])
        axes.plot([], [], label=label(data, i, besides=("ridge",)), **look)
        markers(axes, curve["alpha_simulated"], curve, "optimal_test_error", look)
    axes.set_xlim(left=0)
    axes.set_xlabel(r"sample complexity $\alpha = n/d$")
    axes.set_ylabel(r"test error $\epsilon_g$")


def objective(curves: xr.Dataset, prefix: str = "", suffix: str = "") -> xr.DataArray:
    """Give what training minimises, |y - Phi a|^2 + ridge |a|^2, over d."""
    error, norms = (curves[f"{prefix}{name}{suffix}"] for name in ("training_error", "q2"))
    return curves["at"] * error + curves["ridge"] * curves["beta"] * norms.sum("group")


def uniform(axes: Axes, data: xr.Dataset) -> None:
    """Draw test error, what training minimises, and bound, against a bias that all neurons have."""
    alpha = SHOWN_ALPHA
    shown = data.sel(alpha=alpha, alpha_simulated=alpha).assign_coords(at=alpha)
    bias = shown["bias"].isel(group=0).values
    test, least, bound = (style.COLOURS[i] for i in (0, 2, 4))
    axes.plot(bias, shown["lower_bound"], color=bound, linestyle=style.DASHED, label="bound (27)")
    axes.plot(bias, shown["test_error"], color=test)
    axes.plot([], [], color=test, marker="o", label="test error")
    markers(axes, bias, shown, "test_error", {"color": test, "marker": "o"})
    trained = objective(shown)
    axes.plot(bias, trained, color=least)
    axes.plot([], [], color=least, marker="s", label="training objective$/d$")
    simulated = objective(shown, "simulated_", "_mean")
    axes.plot(bias, simulated, color=least, marker="s", linestyle="none")
    for values, colour in ((trained, least), (shown["lower_bound"], bound)):
        place = int(np.argmin(values.values))
        axes.plot(bias[place], values[place], color=colour, **style.STAR)
    axes.set_yscale("log")
    axes.set_xlabel("bias $b$ of all neurons")
    axes.set_ylabel("error, objective, bound")


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset, by its YAML."""
    figure = Figure(figsize=style.size(2, 2))
    places = figure.subplots(2, 2).ravel()
    noisy = panel_data(data, "noise")
    ridges = noisy["ridge"].values
    least = noisy.isel(curve=np.flatnonzero(ridges == ridges.min()))
    learning_curves(places[0], least)
    heading(places[0], 0, setting(least))
    legend_above(places[0], columns=1)
    noise(places[1], least)
    heading(places[1], 1, "at the best ridge")
    legend_above(places[1], columns=1)
    uniform(places[2], panel_data(data, "uniform"))
    heading(places[2], 2, rf"uniform bias, $\alpha = {SHOWN_ALPHA:g}$")
    places[2].legend()
    biased = panel_data(data, "bias")
    learning_curves(places[3], biased)
    limits(places[3], biased, {"lower_bound": True})
    heading(places[3], 3, setting(biased))
    places[3].set_yscale("log")
    places[3].set_ylim(top=3)
    places[3].legend(loc="upper right", ncols=2)
    return figure
