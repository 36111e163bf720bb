"""Maps: a quantity over two parameters, by level lines."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from giantstep.figures import style

# From light to dark, so that lines and regions over it can be seen.
_SHADES = LinearSegmentedColormap.from_list(
    "giantstep", ["#ffffff", "#dfe4ef", "#b3bfd8", "#7f93bd"]
)
# Values whose ratio is larger are shown in equal ratios.
_WIDE = 15
_LEVELS = 9


def level_lines(
    axes: Axes, x: NDArray[Any], y: NDArray[Any], values: NDArray[Any], percent: bool = False
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
    """
    shown = np.ma.masked_invalid(100 * values if percent else values)
    levels = MaxNLocator(_LEVELS).tick_values(float(shown.min()), float(shown.max()))
    axes.contourf(x, y, shown, levels=levels, cmap=_SHADES)
    lines = axes.contour(
        x, y, shown, levels=levels, colors="black", linewidths=0.5, linestyles="solid"
    )
    form = "%g %%" if percent else "%g"
    axes.clabel(lines, fmt=form, fontsize=6, inline_spacing=2)
    spacing(axes, "x", x)
    spacing(axes, "y", y)


def region(
    axes: Axes,
    x: NDArray[Any],
    y: NDArray[Any],
    values: NDArray[Any],
    boundary: float,
    look: dict[str, Any],
    label: str,
) -> None:
    """Hatch the points where values lie above a boundary, and draw the boundary as a thick line.

    Parameters
    ----------
    axes : Axes
    x, y, values : array
        As in `level_lines`.
    boundary : float
    look : dict
        `color` and `hatch`.
    label : str
        The legend entry; none if no point is in the region.
    """
    inside = np.ma.masked_invalid(values)
    if not (inside > boundary).any():
        return
    colour = look["color"]
    top = max(float(inside.max()), boundary) + 1
    hatched = axes.contourf(x, y, inside, levels=[boundary, top], colors="none")
    hatched.set(hatch=look["hatch"], edgecolor=colour, linewidth=0)
    axes.contour(x, y, inside, levels=[boundary], colors=colour, linewidths=1.4)
    axes.fill([], [], facecolor="none", edgecolor=colour, hatch=look["hatch"], label=label)


def spacing(axes: Axes, axis: str, values: NDArray[Any]) -> None:
    """Show an axis in equal ratios, where its values need it."""
    values = np.asarray(values, dtype=float)
    if values.min() > 0 and values.max() > _WIDE * values.min():
        (axes.set_xscale if axis == "x" else axes.set_yscale)("log")


def percent_colours() -> dict[str, dict[str, Any]]:
    """Return the looks of the regions that maps mark."""
    return {
        "hurts": {"color": style.COLOURS[2], "hatch": "////"},
        "loses_to_linear": {"color": style.COLOURS[4], "hatch": "...."},
        "isotropic_off": {"color": style.COLOURS[3], "hatch": "\\\\\\\\"},
    }
