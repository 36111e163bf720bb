"""Figure S2: 0-1 errors of readouts with square, hinge and logistic loss on a sign target."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import legend_entry, legends_under, title_panel
from giantstep.figures.labels import SAMPLE_COMPLEXITY, format_parameter
from giantstep.figures.learning_curves import draw_networks, draw_theory
from giantstep.figures.selection import in_limit, panel_data, select

# A ridge that is small for all losses, and the sample complexity at which n = p.
_RIDGE, _ALPHA = 0.01, 1.0
# Panels of theory in the YAML, and how they are drawn; those of simulations, at fewer
# ridges, are named `before_networks` and `after_networks`.
_PANELS: dict[str, style.Look] = {"before": style.OPEN | {"alpha": 0.5}, "after": {}}


def draw_losses(
    data: xr.Dataset, config: dict[str, Any], name: str, label: str, ridge: float, alpha: float
) -> Figure:
    """Draw a quantity of each loss, before the step and after it: at one ridge, and at one alpha.

    Parameters
    ----------
    data : xarray.Dataset
    config : dict
        The figure's YAML.
    name, label : str
        The quantity, and its label on the axis.
    ridge, alpha : float
        The ridge of the left panel, the sample complexity of the right one.
    """
    data = in_limit(data)
    figure, (left, right) = style.panels(2)
    looks = style.looks(data["loss"].values)
    for panel, drawn in _PANELS.items():
        theory, networks = (panel_data(data, part) for part in (panel, f"{panel}_networks"))
        for loss, look in looks.items():
            lines, points = (select(p, loss=loss).sortby("ridge") for p in (theory, networks))
            line, point = (select(p, ridge=ridge).isel(curve=0) for p in (lines, points))
            compare(left, "alpha", line, point, name, look | drawn)
            line, point = lines.sel(alpha=alpha), points.sel(alpha_simulated=alpha)
            compare(right, "ridge", line, point, name, look | drawn)
    left.set(xlabel=SAMPLE_COMPLEXITY, xlim=(0, None), ylabel=label)
    right.set(xscale="log", xlabel=r"ridge $\lambda$", ylabel=label)
    fixed = {"ridge": ridge, "alpha": alpha}
    for index, (axes, parameter) in enumerate(zip((left, right), fixed, strict=True)):
        title_panel(axes, index, f"${format_parameter(parameter, fixed[parameter])}$")
        for loss, look in looks.items():
            legend_entry(axes, loss_label(loss), **look)
        for panel, drawn in _PANELS.items():
            legend_entry(axes, config["panels"][panel]["title"], **style.look("black") | drawn)
    legends_under((left, right))
    return figure


def loss_label(loss: str) -> str:
    """Name a loss in the legend."""
    name, _, delta = loss.partition(":")
    return rf"Huber, $\delta = {delta}$" if delta else name


def compare(
    axes: Axes, along: str, line: xr.Dataset, point: xr.Dataset, name: str, look: style.Look
) -> None:
    """Draw a quantity of one loss: theory as a line, networks as markers."""
    pale = {"alpha": look.get("alpha")}
    draw_theory(axes, line, name, look, along, **pale)
    draw_networks(axes, point, name, look, "alpha_simulated" if along == "alpha" else along)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    label = r"0-1 error $P(y\,\hat y < 0)$"
    return draw_losses(data, config, "classification_error", label, _RIDGE, _ALPHA)
