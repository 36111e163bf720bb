"""Figure S16: biases of the neurons, which bring the even part of a target within reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import legend_entry, legends_under, theory_and_networks, title_panel
from giantstep.figures.labels import BOUND_LABELS, format_parameter
from giantstep.figures.learning_curves import learning_curves, limits
from giantstep.figures.selection import in_limit, panel_data

# Sample complexity of the panel on uniform biases.
_SHOWN_ALPHA = 2.0


def objective(curves: xr.Dataset, prefix: str = "", suffix: str = "") -> xr.DataArray:
    """Compute the training objective |y - Phi a|^2 + ridge |a|^2, over d."""
    error, norms = (curves[f"{prefix}{name}{suffix}"] for name in ("training_error", "q2"))
    return curves["at"] * error + curves["ridge"] * curves["beta"] * norms.sum("group")


def uniform(axes: Axes, data: xr.Dataset) -> None:
    """Draw test error, training objective and bound against a bias common to all neurons."""
    alpha = _SHOWN_ALPHA
    shown = data.sel(alpha=alpha, alpha_simulated=alpha).assign_coords(at=alpha)
    shown = shown.isel(curve=np.argsort(shown["bias"].isel(group=0).values))
    bias = shown["bias"].isel(group=0).values
    shown = shown.assign_coords(bias=("curve", bias))
    test, least = style.look(style.COLOURS[0], "o"), style.look(style.COLOURS[3], "s")
    bound = style.BOUNDS["lower_bound"]
    axes.plot(bias, shown["lower_bound"], label=BOUND_LABELS["lower_bound"], **bound)
    theory_and_networks(axes, shown, "test_error", test, "test error", along="bias")
    trained = objective(shown)
    axes.plot(bias, trained, color=least["color"])
    legend_entry(axes, "training objective$/d$", **least)
    simulated = objective(shown, "simulated_", "_mean")
    axes.plot(bias, simulated, linestyle="none", **least)
    for values, look in ((trained, least), (shown["lower_bound"], bound)):
        place = int(np.argmin(values.values))
        axes.plot(bias[place], values[place], color=look["color"], **style.STAR)
    axes.set(yscale="log", xlabel="bias $b$ of all neurons", ylabel="error, objective and bound")


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    data = in_limit(data)
    figure, (left, right) = style.panels(2)
    uniform(left, data.isel(curve=np.isin(data["panel"], ("uniform", "between"))))
    title_panel(left, 0, f"one bias, ${format_parameter('alpha', _SHOWN_ALPHA)}$")
    biased = panel_data(data, "bias")
    learning_curves(right, biased)
    limits(right, biased, {"lower_bound": True})
    title_panel(right, 1, "several biases")
    right.set_ylim(bottom=0)
    legends_under((left, right))
    return figure
