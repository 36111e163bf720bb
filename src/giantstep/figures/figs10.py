"""Figure S10: the effect of label noise, and of biases of the neurons, which lower the bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import (
    legend_above,
    legend_entry,
    markers,
    theory_and_networks,
    title_panel,
)
from giantstep.figures.labels import (
    BOUND_LABELS,
    OPTIMAL_TEST_ERROR,
    SAMPLE_COMPLEXITY,
    curve_label,
    shared_setting,
)
from giantstep.figures.learning_curves import learning_curves, limits
from giantstep.figures.selection import in_limit, panel_data, smallest_ridge

# Sample complexity of the panel on uniform biases.
_SHOWN_ALPHA = 2.0


def noise(axes: Axes, data: xr.Dataset) -> None:
    """Draw test errors at the best ridge, of networks at the nearest simulated one."""
    for i, look in enumerate(style.cycle(data.sizes["curve"])):
        curve = data.isel(curve=i)
        theory_and_networks(axes, curve, "optimal_test_error", look, curve_label(data, i))
    axes.set_xlim(left=0)
    axes.set(xlabel=SAMPLE_COMPLEXITY, ylabel=OPTIMAL_TEST_ERROR)


def objective(curves: xr.Dataset, prefix: str = "", suffix: str = "") -> xr.DataArray:
    """Compute the training objective |y - Phi a|^2 + ridge |a|^2, over d."""
    error, norms = (curves[f"{prefix}{name}{suffix}"] for name in ("training_error", "q2"))
    return curves["at"] * error + curves["ridge"] * curves["beta"] * norms.sum("group")


def uniform(axes: Axes, data: xr.Dataset) -> None:
    """Draw test error, training objective and bound against a bias common to all neurons."""
    alpha = _SHOWN_ALPHA
    shown = data.sel(alpha=alpha, alpha_simulated=alpha).assign_coords(at=alpha)
    bias = shown["bias"].isel(group=0).values
    test, least = style.look(style.COLOURS[0], "o"), style.look(style.COLOURS[3], "s")
    bound = style.BOUNDS["lower_bound"]
    axes.plot(bias, shown["lower_bound"], label=BOUND_LABELS["lower_bound"], **bound)
    axes.plot(bias, shown["test_error"], color=test["color"])
    legend_entry(axes, "test error", **test)
    markers(axes, bias, shown, "test_error", test)
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
    figure, places = style.panels(4)
    noisy = smallest_ridge(panel_data(data, "noise"))
    learning_curves(places[0], noisy)
    title_panel(places[0], 0, shared_setting(noisy))
    legend_above(places[0], columns=1)
    noise(places[1], noisy)
    title_panel(places[1], 1, shared_setting(noisy, without=("ridge",)))
    legend_above(places[1], columns=1)
    same = panel_data(data, "uniform")
    uniform(places[2], same)
    title_panel(places[2], 2, shared_setting(same, alpha=_SHOWN_ALPHA))
    places[2].legend()
    biased = panel_data(data, "bias")
    learning_curves(places[3], biased)
    limits(places[3], biased, {"lower_bound": True})
    title_panel(places[3], 3, shared_setting(biased))
    places[3].set(yscale="log", ylim=(None, 3))
    places[3].legend(loc="upper right", ncols=2)
    return figure
