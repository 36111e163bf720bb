"""Elements that panels have in common: curves, markers, legends, titles and ticks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import xarray as xr
from matplotlib.axes import Axes


def theory_and_networks(
    axes: Axes,
    curve: xr.Dataset,
    name: str,
    look: dict[str, Any],
    label: str | None = None,
    along: str = "alpha",
) -> None:
    """Draw one curve: theory as a line, simulated means as markers, one legend entry for both.

    Parameters
    ----------
    axes : Axes
    curve : xarray.Dataset
    name : str
        The quantity, such as `test_error`.
    look : dict
        Colour and marker.
    label : str, optional
        The legend entry, if there is to be one.
    along : str
        The theory's coordinate; that of the networks is `{along}_simulated`.
    """
    axes.plot(curve[along], curve[name], color=look["color"])
    if label is not None:
        legend_entry(axes, label, **look)
    markers(axes, curve[f"{along}_simulated"], curve, name, look)


def markers(axes: Axes, x: Any, curve: xr.Dataset, name: str, look: dict[str, Any]) -> None:
    """Draw simulated means of a quantity as markers, with their standard errors."""
    mean, stderr = (curve[f"simulated_{name}_{part}"] for part in ("mean", "stderr"))
    axes.errorbar(x, mean, stderr, linestyle="none", zorder=3, **look)


def failure_crosses(axes: Axes, along: str, curve: xr.Dataset, colour: str) -> None:
    """Draw crosses on the axis of the coordinate `along`, at the points where the theory failed."""
    failed = curve[along].values[curve["status"].values > 0]
    if failed.size:  # an empty scatter would upset the layout
        on_axis = axes.get_xaxis_transform()
        axes.scatter(failed, 0 * failed, marker="x", color=colour, transform=on_axis, clip_on=False)


def legend_entry(axes: Axes, label: str, **look: Any) -> None:
    """Add an entry to the legend, without drawing anything."""
    axes.plot([], [], label=label, **look)


def legend_above(axes: Axes, columns: int) -> None:
    """Put the legend above the data, making room for it on an axis that starts at zero or below."""
    entries = len(axes.get_legend_handles_labels()[1])
    rows = -(-entries // columns)
    bottom = min(0.0, axes.dataLim.ymin * 1.06)
    top = axes.dataLim.ymax
    axes.set_ylim(bottom, top + (top - bottom) * (0.06 + 0.13 * rows))
    axes.legend(loc="upper right", ncols=columns, columnspacing=1.2)


def legend_beside(axes: Axes) -> None:
    """Put the legend to the right of the panel."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)


def title_panel(axes: Axes, index: int, text: str) -> None:
    """Title a panel, after its letter unless it is the only panel of its figure."""
    assert axes.figure is not None
    letter = rf"$\mathbf{{({chr(ord('a') + index)})}}$  " if len(axes.figure.axes) > 1 else ""
    axes.set_title(letter + text, loc="left")


def ticks(axes: Axes, axis: str, values: Iterable[float]) -> None:
    """Set labelled ticks at the given values of an axis, "x" or "y", and no others."""
    place = axes.set_xticks if axis == "x" else axes.set_yticks
    values = list(values)
    place(values, [f"{value:g}" for value in values])
    axes.minorticks_off()
