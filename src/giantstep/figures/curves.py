"""Learning curves: theory as lines, simulation as markers with their standard errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from giantstep.activations import lookup
from giantstep.figures import style


def panel_data(data: xr.Dataset, panel: str) -> xr.Dataset:
    """Select the curves of one panel."""
    return data.isel(curve=np.flatnonzero(data["panel"].values == panel))


def number(value: float) -> str:
    """Write a number in LaTeX."""
    return r"\infty" if np.isinf(value) else f"{value:g}"


def learning_curves(
    axes: Axes,
    data: xr.Dataset,
    label: Callable[[xr.Dataset], str],
    colours: Sequence[str] | None = None,
) -> None:
    """Draw the test error of every curve of `data` against the sample complexity.

    Points where the theory failed are gaps in the line, marked by crosses on the axis.
    """
    looks = style.cycle(data.sizes["curve"], colours)
    for i, look in enumerate(looks):
        curve = data.isel(curve=i)
        # One legend entry stands for both: the line, and the marker on it.
        axes.plot([], [], label=label(curve), **look)
        axes.plot(curve["alpha"], curve["test_error"], color=look["color"])
        failed = curve["alpha"].values[curve["status"].values != 0]
        if failed.size:
            on_axis = axes.get_xaxis_transform()
            axes.scatter(
                failed,
                0 * failed,
                marker="x",
                color=look["color"],
                transform=on_axis,
                clip_on=False,
            )
        axes.errorbar(
            curve["alpha_simulated"],
            curve["simulated_test_error_mean"],
            curve["simulated_test_error_stderr"],
            linestyle="none",
            zorder=3,
            **look,
        )
    axes.set_xlabel(r"sample complexity $\alpha = n/d$")
    axes.set_ylabel(r"test error $\epsilon_g$")
    axes.set_xlim(left=0)


def legend_above(axes: Axes, columns: int) -> None:
    """Put the legend above the data, making room for it on an axis that starts at zero."""
    entries = len(axes.get_legend_handles_labels()[1])
    rows = -(-entries // columns)
    axes.set_ylim(0, axes.dataLim.ymax * (1.06 + 0.11 * rows))
    axes.legend(loc="upper right", ncols=columns, columnspacing=1.2)


def setting(data: xr.Dataset) -> str:
    """Write what all curves of a panel share: functions, learning rate and ridge."""
    first = data.isel(curve=0)
    student = lookup(first["activation"].item()).label
    teacher = lookup(first["target"].item()).label
    return (
        rf"$\sigma = {student},\ \sigma_\star = {teacher},\ "
        rf"\tilde\eta = {number(first['learning_rate'].item())},\ "
        rf"\lambda = {number(first['ridge'].item())}$"
    )


def heading(axes: Axes, index: int, text: str) -> None:
    """Title a panel, its letter in front."""
    axes.set_title(rf"$\mathbf{{({chr(ord('a') + index)})}}$  {text}", loc="left")
