"""Figure S7: inputs that are not Gaussian, over the sample complexity and the dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.curves import heading, markers, setting

STUDENT = "student_t:"
# How far apart the markers of different inputs stand.
_APART = 0.02


def named(inputs: str) -> str:
    """Name a distribution as a legend does."""
    if inputs.startswith(STUDENT):
        return rf"Student-t, $\nu = {inputs.removeprefix(STUDENT)}$"
    return "Rademacher" if inputs == "rademacher" else inputs.capitalize()


def learning(axes: Axes, data: xr.Dataset, looks: dict[str, dict[str, Any]]) -> None:
    """Draw the one theory, and simulations with all inputs."""
    first = data.isel(curve=0)
    for inputs, look in looks.items():
        axes.plot([], [], linestyle="none", label=named(inputs), **look)
    axes.plot(first["alpha"], first["test_error"], color="black", label="theory")
    for i, inputs in enumerate(data["inputs"].values):
        curve = data.isel(curve=i)
        x = curve["alpha_simulated"] + _APART * (i - (len(looks) - 1) / 2)
        markers(axes, x, curve, "test_error", looks[inputs])
    axes.set_ylim(bottom=0.4)  # room for the legend
    axes.set_xlabel(r"sample complexity $\alpha = n/d$")
    axes.set_ylabel(r"test error $\epsilon_g$")


def gaps(axes: Axes, data: xr.Dataset, looks: dict[str, dict[str, Any]]) -> None:
    """Draw simulation over theory, less one, against the dimension."""
    last = data.isel(alpha_simulated=-1)
    theory = last["test_error"].sel(alpha=last["alpha_simulated"].item())
    axes.axhline(0, color="black", linewidth=0.6)
    for i, (inputs, look) in enumerate(looks.items()):
        places = np.flatnonzero(last["inputs"].values == inputs)
        mean, stderr = (
            100 * (last[f"simulated_test_error_{part}"] / theory).isel(curve=places)
            for part in ("mean", "stderr")
        )
        dimensions = last["dimension"].values[places]
        x = dimensions * np.exp(2 * _APART * (i - (len(looks) - 1) / 2))
        axes.errorbar(x, mean - 100, stderr, **look)
    ticks = np.unique(data["dimension"].values)
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("dimension $d$")
    axes.set_ylabel("mean over theory, less one [%]")


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset, by its YAML."""
    names = list(dict.fromkeys(data["inputs"].values))
    looks = dict(zip(names, style.cycle(len(names)), strict=True))
    figure = Figure(figsize=style.size(columns=2))
    left, right = figure.subplots(1, 2)
    shown = data.isel(curve=np.flatnonzero(data["panel"].values == "d1000"))
    learning(left, shown, looks)
    heading(left, 0, setting(shown))
    left.legend(loc="lower left", ncols=2)
    gaps(right, data, looks)
    alpha = data["alpha_simulated"].values[-1]
    heading(right, 1, rf"$\alpha = {alpha:g}$")
    return figure
