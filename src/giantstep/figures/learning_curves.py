"""Learning curves: test error by sample complexity, theory as lines and networks as markers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import xarray as xr
from matplotlib.axes import Axes

from giantstep.figures import style
from giantstep.figures.elements import (
    best_linear,
    failure_crosses,
    has_networks,
    legend_entry,
    markers,
    theory_entries,
    theory_line,
    title_panel,
)
from giantstep.figures.labels import (
    BAYES_LABELS,
    BOUND_LABELS,
    SAMPLE_COMPLEXITY,
    TEST_ERROR,
    curve_keys,
    curve_label,
    panel_setting,
)
from giantstep.figures.selection import distinct, panel_data

# Curves that differ in it alone have the same networks.
_NOT_OF_NETWORKS = ("bulk",)


def learning_panel(
    axes: Axes, data: xr.Dataset, config: dict[str, Any], name: str, index: int
) -> None:
    """Draw the learning curves of one panel of a figure's YAML, with its title."""
    shown = panel_data(data, name)
    colours = config.get("style", {}).get("colours")
    learning_curves(axes, shown, colours)
    limits(axes, shown, config["panels"][name], colours)
    axes.set_ylim(bottom=0)
    title = config["panels"][name].get("title") or panel_setting(shown, data)
    title_panel(axes, index, title)


def draw_theory(
    axes: Axes, curve: xr.Dataset, name: str, look: style.Look, along: str = "alpha", **line: Any
) -> None:
    """Draw the theory of a curve as a line, if it has one; crosses on the axis where it failed."""
    if along in curve and name in curve:
        theory_line(axes, curve[along], curve, name, look["color"], **line)
        failure_crosses(axes, along, curve, look["color"])


def draw_networks(
    axes: Axes, curve: xr.Dataset, name: str, look: style.Look, along: str = "alpha_simulated"
) -> None:
    """Draw the networks of a curve as markers, if it has any."""
    if has_networks(curve, name):
        markers(axes, curve[along], curve, name, look)


def learning_curves(
    axes: Axes, data: xr.Dataset, colours: Sequence[str] | None = None, name: str = "test_error"
) -> None:
    """Draw an error of every curve of `data` against the sample complexity.

    Curves that differ only in the bulk of their theory share simulations, and so colour, markers
    and legend entry. Points where the theory failed are gaps in the line, with crosses on the axis.
    """
    keys, lines = curve_keys(data, _NOT_OF_NETWORKS), style.bulk_lines(distinct(data, "bulk"))
    for i, look in enumerate(curve_looks(data, colours)):
        curve = data.isel(curve=i)
        draw_theory(axes, curve, name, look, **lines[curve["bulk"].item()])
        if keys[i] not in keys[:i]:
            draw_networks(axes, curve, name, look)
            legend_entry(axes, curve_label(data, i, _NOT_OF_NETWORKS), **look)  # of both
    theory_entries(axes, data, name)
    axes.set(xlabel=SAMPLE_COMPLEXITY, ylabel=TEST_ERROR)
    axes.set_xlim(left=0)


def curve_looks(data: xr.Dataset, colours: Sequence[str] | None = None) -> list[style.Look]:
    """Return the colour and the marker of each curve; those that share networks share both."""
    keys = curve_keys(data, _NOT_OF_NETWORKS)
    looks = style.looks(keys, colours)
    each = [looks[key] for key in keys]
    if colours or "alpha0" not in data or (data["alpha0"].values == 0).all():
        return each
    return [
        look if step else style.look(style.NO_STEP, look["marker"])
        for look, step in zip(each, data["alpha0"].values != 0, strict=True)
    ]


def limits(
    axes: Axes, data: xr.Dataset, panel: dict[str, Any], colours: Sequence[str] | None = None
) -> None:
    """Draw the limits on the test error that a panel of a figure's YAML asks for."""
    looks = curve_looks(data, colours)
    if panel.get("best_linear"):
        best_linear(axes, data)
    if panel.get("bayes_optimal"):
        best_possible(axes, data, looks)
    if panel.get("lower_bound"):
        line = {"linestyle": style.BOUNDS["lower_bound"]["linestyle"], "linewidth": 0.9}
        for look, bound in zip(looks, data["lower_bound"].values, strict=True):
            axes.axhline(bound, color=look["color"], **line)
        legend_entry(axes, BOUND_LABELS["lower_bound"], color="black", **line)


def best_possible(axes: Axes, data: xr.Dataset, looks: Sequence[style.Look]) -> None:
    """Draw the least error with the samples of each curve, and that of AMP where it is larger."""
    least, fast = (data[name] for name in style.BEST_POSSIBLE)
    for (name, line), error in zip(
        style.BEST_POSSIBLE.items(), (least, fast.where(fast > least)), strict=True
    ):
        for look, values in zip(looks, error, strict=True):
            axes.plot(data["alpha"], values, color=look["color"], **line)
        if error.notnull().any():
            legend_entry(axes, BAYES_LABELS[name], color="black", **line)
