"""Maps: a quantity over two parameters, by level lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from giantstep.arrays import Array
from giantstep.figures import style
from giantstep.figures.elements import ticks, title_panel
from giantstep.figures.labels import axis_label, format_parameter, is_parameter
from giantstep.figures.selection import panel_data
from giantstep.problems.formatting import written
from giantstep.vocabulary import MEANINGS

Levels = Sequence[float]
# From light to dark, so that lines and regions over it can be seen; below zero, where values have
# both signs, in red.
_ramp = LinearSegmentedColormap.from_list
_SHADES = _ramp("blues", ["white", "#dfe4ef", "#b3bfd8", "#7f93bd"])
_REDS = _ramp("reds", ["white", "#f5dfe1", "#e6b3b8", "#cf7f88"])
_RED, _GREEN = style.COLOURS[2:4]
# Values whose ratio is larger are shown in equal ratios.
_WIDE = 15
_LEVELS, _FEWEST = 9, 3
_ROUND = [k * 10.0**e for e in range(-12, 13) for k in (1, 2, 5)]
_PERCENTS = (-800, -400, -200, -100, -50, -25, 0, 25, 50, 75)
# Of errors over that of the best linear predictor, and of deviations in percent.
_RATIOS = (0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 5, 9)
_DEVIATIONS = (-10, -5, -2, 2, 5, 10)
_OVER_LINEAR = "test error over that of the best linear predictor"
_RATIO, _DEVIATION = "error over best linear", "isotropic theory over trained $-$ 1"
# Axes that span less than this ratio have ticks at 1, 2 and 5.
_FEW = 200


# Regions where a quantity times a sign is positive, by their labels, with colour and hatch.
_REGIONS = {
    "better than the best linear predictor": ("gain_over_linear", 1, _GREEN, "...."),
    "worse than no step": ("gain_over_no_step", -1, _RED, "////"),
}


def level_lines(
    axes: Axes, x: Array, y: Array, values: Array, percent: bool = False, wanted: Levels = ()
) -> None:
    """Draw a quantity over two parameters: lighter to darker shades, with labelled lines between.

    Parameters
    ----------
    axes : Axes
    x, y : array, shapes (X,) and (Y,)
    values : array, shape (Y, X)
        What failed is NaN, and left white.
    percent : bool
        Whether shares are written in percent.
    wanted : sequence of float
        Levels, where some of them are within the values.
    """
    spacing(axes, "x", x)  # first, since labels are placed on the axes as they are
    spacing(axes, "y", y)
    shown = np.ma.masked_invalid(100 * values if percent else values)
    levels = _levels(float(shown.min()), float(shown.max()), wanted or _PERCENTS * percent)
    axes.contourf(x, y, shown, levels=levels, colors=_shades(levels))
    lines = axes.contour(x, y, shown, levels, colors="black", linewidths=0.5, linestyles="solid")
    unit = r"\,\%" if percent else ""
    texts = {level: f"${level:g}{unit}$" for level in lines.levels}
    for text in axes.clabel(lines, fmt=texts, fontsize=7.5, inline_spacing=2):
        text.set(path_effects=[withStroke(linewidth=1.5, foreground="white")], clip_on=False)


def _shades(levels: Levels) -> list[Any]:
    """Shade what is between levels: from white, or away from it on both sides of zero."""
    between = list(pairwise(levels))
    below, above = sum(high <= 0 for _, high in between), sum(low >= 0 for low, _ in between)
    if not below or not above:
        return [_SHADES(k / max(len(between) - 1, 1)) for k in range(len(between))]
    most = max(below, above)
    reds = [_REDS(k / most) for k in range(below, 0, -1)]
    around = ["white"] * (len(between) - below - above)
    return [*reds, *around, *(_SHADES(k / most) for k in range(1, above + 1))]


def _levels(low: float, high: float, wanted: Levels) -> list[float]:
    """Choose levels: those that are wanted; of wide ranges in equal ratios."""
    inside = [float(level) for level in wanted if low < level < high]
    if not wanted and low > 0 and high > _WIDE * low:
        inside = [level for level in _ROUND if low < level < high][:_LEVELS]
    if len(inside) < _FEWEST:
        inside = [float(level) for level in MaxNLocator(_LEVELS).tick_values(low, high)]
    below = [low] if low < inside[0] else []
    return below + inside + ([high * 1.001 + 1e-9] if high > inside[-1] else [])


def hatch(
    axes: Axes, x: Array, y: Array, values: Array, label: str, colour: str, pattern: str
) -> None:
    """Hatch where values are positive, with a thick line around it and an entry in the legend."""
    inside = np.ma.masked_invalid(values)
    if not (inside > 0).any():
        return
    hatched = axes.contourf(x, y, inside, levels=[0, float(inside.max()) + 1], colors="none")
    hatched.set(hatch=pattern, edgecolor=colour, linewidth=0)
    axes.contour(x, y, inside, levels=[0], colors=colour, linewidths=1.4)
    axes.fill([], [], fc="none", ec=colour, hatch=pattern, label=label)


def spacing(axes: Axes, axis: str, values: Array) -> None:
    """Show an axis in equal ratios, where its values need it."""
    values = np.asarray(values, dtype=float)
    low, high = values.min(), values.max()
    if low > 0 and high > _WIDE * low:
        (axes.set_xscale if axis == "x" else axes.set_yscale)("log")
        if high < _FEW * low:
            ticks(axes, axis, [x for x in _ROUND if low * 0.999 <= x <= high * 1.001])


def titled_map(axes: Axes, data: xr.Dataset, config: dict[str, Any], name: str, index: int) -> None:
    """Draw one map of a figure's YAML, with its title."""
    panel, panels = config["panels"][name], list(config["panels"].values())
    curve = panel_data(data, name).isel(curve=0)
    map_panel(axes, curve, panel.get("show", "gain_over_linear"))
    title_panel(axes, index, panel.get("title") or _title(panel, panels))


def map_panel(axes: Axes, curve: xr.Dataset, show: str) -> None:
    """Draw one map: level lines, and of gains the regions where a step pays or hurts.

    The gain over the best linear predictor is shown as the ratio of both errors.
    """
    curve = curve.dropna("row", how="all", subset=["map_y"])
    curve = curve.dropna("column", how="all", subset=["map_x"])
    x, y = curve["map_x"].values, curve["map_y"].values
    values = curve[show].values
    if show == "gain_over_linear":
        level_lines(axes, x, y, 1 - values, wanted=_RATIOS)
        axes.plot([], [], color="black", linewidth=0.5, label=_OVER_LINEAR)
    else:
        of_theory = show == "isotropic_deviation"
        level_lines(axes, x, y, values, percent=True, wanted=_DEVIATIONS * of_theory)
    for label, (name, sign, colour, pattern) in _REGIONS.items():
        if show != "isotropic_deviation":
            hatch(axes, x, y, sign * curve[name].values, label, colour, pattern)
    for axis, parameter in ((axes.xaxis, "x_parameter"), (axes.yaxis, "y_parameter")):
        axis.set_label_text(axis_label(curve[parameter].item()))


def _title(panel: dict[str, Any], panels: list[dict[str, Any]]) -> str:
    """Write what is shown, and the parameters that other maps have at other values."""
    show = panel.get("show", "gain_over_linear")
    titles = {"gain_over_linear": _RATIO, "isotropic_deviation": _DEVIATION}
    parts = [titles.get(show, MEANINGS[show].long_name)]
    for name in filter(is_parameter, panel):
        differs = any(one.get(name, panel[name]) != panel[name] for one in panels)
        if len(panels) == 1 or differs:
            parts.append(f"${format_parameter(name, written(panel[name]))}$")
    return ", ".join(filter(None, parts))
