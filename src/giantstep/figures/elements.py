"""Elements that panels have in common: curves, markers, legends, titles and ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
import xarray as xr
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from matplotlib.transforms import ScaledTranslation

from giantstep.figures import style
from giantstep.figures.labels import BEST_LINEAR, BULK_LABELS
from giantstep.figures.selection import at_dimension, in_limit, simulated

# How much wider panels are once they are laid out than before, or a little less.
_LAID_OUT = 1.2
# Inches from a panel to the legend under it, around one of all panels, and of a row of its entries.
_UNDER, _AROUND, _ENTRY = 0.37, 0.1, 0.15
# Columns of a legend at most, and what is beside the text of an entry, over the size of its font.
_MOST_COLUMNS, _BESIDE = 4, 3.2


def theory_and_networks(
    axes: Axes, curve: xr.Dataset, name: str, look: style.Look, label: str, along: str = "alpha"
) -> None:
    """Draw one curve: theory as a line, simulated means as markers, one legend entry for both.

    Theory at the dimension of the simulations is a thin, dashed line, if there is one.

    Parameters
    ----------
    axes : Axes
    curve : xarray.Dataset
    name : str
        The quantity, such as `test_error`.
    look : dict
        Colour and marker.
    label : str
        The legend entry.
    along : str
        The theory's coordinate; that of the networks is `{along}_simulated`, if there is one.
    """
    theory_line(axes, curve[along], curve, name, look["color"])
    legend_entry(axes, label, **look)
    markers(axes, curve.get(f"{along}_simulated", curve[along]), curve, name, look)


def theory_line(axes: Axes, x: Any, curve: xr.Dataset, name: str, colour: str, **look: Any) -> None:
    """Draw the theory of a quantity; a further line at the simulations' dimension, if it is."""
    axes.plot(x, in_limit(curve)[name], color=colour, **look)
    finite_size_line(axes, x, curve, name, colour)


def finite_size_and_networks(
    axes: Axes, curve: xr.Dataset, along: str, look: style.Look, label: str
) -> None:
    """Draw the test errors of one curve: theory at the dimension of the networks, and these."""
    finite_size_line(axes, curve[along], curve, "test_error", look["color"])
    markers(axes, curve[along], curve, "test_error", look)
    legend_entry(axes, label, **look, **style.FINITE_SIZE)


def finite_size_line(axes: Axes, x: Any, curve: xr.Dataset, name: str, colour: str) -> None:
    """Draw the theory of a quantity at the dimension of the simulations, if there is one."""
    if (theory := at_dimension(curve, name)) is not None:
        axes.plot(x, theory, color=colour, **style.FINITE_SIZE)


def finite_size_entry(axes: Axes, data: xr.Dataset, name: str, colour: str = "black") -> None:
    """Add one legend entry for the theory of all curves at the dimension of the simulations."""
    if at_dimension(data, name) is None:
        return
    dimensions = np.unique(data["dimension"].values)
    label = f"theory, $d = {dimensions[0]:g}$" if dimensions.size == 1 else "theory, finite $d$"
    legend_entry(axes, label, color=colour, **style.FINITE_SIZE)


def markers(axes: Axes, x: Any, curve: xr.Dataset, name: str, look: style.Look) -> None:
    """Draw simulated means of a quantity as markers, with their standard errors."""
    error_bars(axes, x, *simulated(curve, name), look)


def error_bars(
    axes: Axes, x: Any, mean: Any, stderr: Any, look: style.Look, **options: Any
) -> None:
    """Draw means as markers, with standard errors over them that are seen if they are smaller."""
    thin: dict[str, Any] = {"linestyle": "none", "elinewidth": 0.7, "capthick": 0.7}
    axes.errorbar(x, mean, stderr, zorder=3, barsabove=True, **thin, **look, **options)


def bars(axes: Axes, x: Any, values: Any, width: float, **look: Any) -> None:
    """Draw theory that exists at some values of x only: a short bar at each, of `width` x."""
    x, half = np.asarray(x), width / 2
    ends = (x * (1 - half), x * (1 + half)) if axes.get_xscale() == "log" else (x - half, x + half)
    axes.hlines(values, *ends, zorder=2, **look)


def failure_crosses(axes: Axes, along: str, curve: xr.Dataset, colour: str) -> None:
    """Draw crosses on the axis of the coordinate `along`, at the points where a theory failed."""
    failures = curve.get("status", 0 * curve[along]) > 0
    failures = failures.any("theory") if "theory" in failures.dims else failures
    failed = curve[along].values[failures.values]
    if failed.size:  # an empty scatter would upset the layout
        on_axis = axes.get_xaxis_transform()
        axes.scatter(failed, 0 * failed, marker="x", color=colour, transform=on_axis, clip_on=False)


def best_linear(axes: Axes, data: xr.Dataset) -> None:
    """Draw the errors of the best linear predictors of the targets, with a legend entry."""
    for error in np.unique(data["best_linear_error"].values):
        axes.axhline(error, **style.REFERENCE)
    legend_entry(axes, BEST_LINEAR, **style.REFERENCE)


def legend_entry(axes: Axes, label: str, **look: Any) -> None:
    """Add an entry to the legend, without drawing anything."""
    axes.plot([], [], label=label, **look)


def has_networks(data: xr.Dataset, name: str) -> bool:
    """Check whether a quantity was simulated, of any of the curves."""
    means = data.get(f"simulated_{name}_mean")
    return means is not None and bool(means.notnull().any())


def theory_entries(axes: Axes, data: xr.Dataset, name: str) -> None:
    """Add to the legend what lines and markers are: theories with their bulks, and simulations."""
    if name in data and data[name].notnull().any():
        for bulk, line in style.bulk_lines(np.ravel(data["bulk"]).tolist()).items():
            legend_entry(axes, f"theory, {BULK_LABELS[bulk]}", color="black", **line)
    finite_size_entry(axes, data, name)
    if has_networks(data, name):
        stepped = "learning_rate" in data and data["learning_rate"].notnull().any()
        simulations = "networks" if stepped else "simulated features"
        legend_entry(axes, simulations, linestyle="none", **style.look("black"))


def legends_under(places: Sequence[Axes]) -> None:
    """Put a legend below each panel, and make the page as much higher."""
    figure = cast(Figure, places[0].figure)
    rows: dict[int, int] = {}
    for axes in places:
        spec = axes.get_subplotspec()
        share = len(spec.colspan) / spec.get_gridspec().ncols if spec else 1.0
        below = axes.transAxes + ScaledTranslation(0, -_UNDER, figure.dpi_scale_trans)
        place: dict[str, Any] = {"bbox_to_anchor": (0.45, 0), "bbox_transform": below}
        entries, width = axes.get_legend_handles_labels(), share * figure.get_figwidth()
        height = _add_legend(axes, *entries, width, loc="upper center", borderaxespad=0, **place)
        row = spec.rowspan.start if spec else 0
        rows[row] = max(rows.get(row, 0), height)
    figure.set_figheight(figure.get_figheight() + _ENTRY * sum(rows.values()))


def shared_legend(places: Sequence[Axes]) -> None:
    """Put one legend, of the entries of some panels, below all; make the page as much higher."""
    figure = cast(Figure, places[0].figure)
    each = [zip(*axes.get_legend_handles_labels(), strict=True) for axes in places]
    entries = {label: handle for of_panel in each for handle, label in of_panel}
    of_all = list(entries.values()), list(entries), figure.get_figwidth()
    if rows := _add_legend(figure, *of_all, loc="outside lower center"):
        figure.set_figheight(figure.get_figheight() + _AROUND + _ENTRY * rows)


def _add_legend(on: Any, handles: Any, labels: list[str], width: float, **options: Any) -> int:
    """Add a legend in as many columns as fit into a width in inches, and count its rows."""
    if not labels:
        return 0
    size = FontProperties(size=rcParams["legend.fontsize"]).get_size_in_points()
    widest = max(_text_width(label, size) for label in labels) + _BESIDE * size
    columns = max(1, min(_MOST_COLUMNS, len(labels), int(72 * width / widest)))
    on.legend(handles, labels, ncols=columns, columnspacing=1.0, **options)
    return math.ceil(len(labels) / columns)


def _text_width(text: str, size: float) -> float:
    """Measure a line of text, in points."""
    font = FontProperties(size=size)
    return text_to_path.get_text_width_height_descent(text, font, text.count("$") > 1)[0]


def title_panel(axes: Axes, index: int, text: str, above: str = "") -> None:
    """Title a panel, after its letter unless it is the only panel of its figure.

    A title that is wider than the panel is broken after a comma. What is `above` has its own line.
    """
    figure = cast(Figure, axes.figure)
    title = rf"$\mathbf{{({chr(ord('a') + index)})}}$  " if len(figure.axes) > 1 else ""
    growth = _LAID_OUT if len(figure.axes) > 1 else 1.0
    room = growth * axes.get_position().width * figure.get_figwidth() * 72
    for number, part in enumerate(text.split(", ")):
        longer = f"{title}, {part}" if number else title + part
        width = _text_width(longer.split("\n")[-1], rcParams["axes.titlesize"])
        title = longer if width < room or not number else f"{title},\n{part}"
    axes.set_title("\n".join(filter(None, [above, title])), loc="left")


def ticks(axes: Axes, axis: str, values: Iterable[float]) -> None:
    """Set labelled ticks at the given values of an axis, "x" or "y", and no others."""
    place = axes.set_xticks if axis == "x" else axes.set_yticks
    values = list(values)
    place(values, [f"{value:g}" for value in values])
    axes.minorticks_off()
