"""Learning curves: theory as lines, simulation as markers with their standard errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from giantstep.activations import lookup
from giantstep.figures import style


def panel_data(data: xr.Dataset, panel: str) -> xr.Dataset:
    """Select the curves of one panel."""
    return data.isel(curve=np.flatnonzero(data["panel"].values == panel))


# What a panel's title says beside the functions, where its curves share it: of a step, of an sRF.
TITLED = (("learning_rate", "ridge"), ("spike_strength", "alignment", "ridge"))


def written(data: xr.Dataset, name: str, value: str) -> str:
    """Write a parameter in LaTeX, by its symbol."""
    value = {"inf": r"\infty"}.get(value, value).replace(" ", r",\ ")
    return f"{data[name].attrs['symbol']} = {value}"


def varied(data: xr.Dataset, curve: int) -> dict[str, str]:
    """Give the parameters that set a curve apart, and their values, as its name spells them out."""
    _, _, parts = str(data["curve"].values[curve]).partition(":")
    pairs = (part.partition("=") for part in parts.split(",") if "=" in part)
    return {name: value for name, _, value in pairs}


def label(data: xr.Dataset, curve: int) -> str:
    """Name a curve by what sets it apart from the others."""
    parts = [written(data, name, value) for name, value in varied(data, curve).items()]
    return ", ".join(f"${part}$" for part in parts) or str(data["curve"].values[curve])


def learning_curves(axes: Axes, data: xr.Dataset, colours: Sequence[str] | None = None) -> None:
    """Draw the test error of every curve of `data` against the sample complexity.

    Points where the theory failed are gaps in the line, marked by crosses on the axis.
    """
    looks = style.cycle(data.sizes["curve"], colours)
    for i, look in enumerate(looks):
        curve = data.isel(curve=i)
        # One legend entry stands for both: the line, and the marker on it.
        axes.plot([], [], label=label(data, i), **look)
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
    axes.set_ylim(0, axes.dataLim.ymax * (1.06 + 0.13 * rows))
    axes.legend(loc="upper right", ncols=columns, columnspacing=1.2)


def setting(data: xr.Dataset) -> str:
    """Write what all curves of a panel share: functions, and the parameters worth a title."""
    student, teacher = (lookup(data[name].values[0]).label for name in ("activation", "target"))
    stepped = "learning_rate" in data and not np.isnan(data["learning_rate"].values[0])
    shared = [name for name in TITLED[0 if stepped else 1] if name not in varied(data, 0)]
    parts = [rf"\sigma = {student}", rf"\sigma_\star = {teacher}"]
    parts += [
        written(data, name, f"{data[name].values[0]:g}") for name in shared if data[name].ndim == 1
    ]
    return "$" + r",\ ".join(parts) + "$"


def heading(axes: Axes, index: int, text: str) -> None:
    """Title a panel, its letter in front."""
    axes.set_title(rf"$\mathbf{{({chr(ord('a') + index)})}}$  {text}", loc="left")
