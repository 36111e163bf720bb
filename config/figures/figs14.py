"""Figure S14: the best split of a budget of samples into steps."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import (
    best_linear,
    legend_entry,
    legends_under,
    ticks,
    title_panel,
)
from giantstep.figures.labels import TEST_ERROR, format_parameter
from giantstep.figures.selection import distinct, panel_data, select

_SEVERAL = run_path(str(Path(__file__).with_name("figs8.py")))
at_best_rate, star = _SEVERAL["at_best_rate"], _SEVERAL["star"]
# A step pays if it takes off at least this share of the error.
_PAYS = 0.01
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
# Of the steps, the share after which it is too early to say that none will pay.
_SEEN = 0.75


def last_that_pays(errors: xr.DataArray) -> int:
    """Find the first step after which no step takes off one per cent of the error."""
    values = errors.values
    paying = np.flatnonzero(values[1:] < (1 - _PAYS) * values[:-1])
    return int(paying[-1]) + 1 if paying.size else 0


def budget(axes: Axes, theory: xr.Dataset) -> None:
    """Draw errors at the best rate against all samples used, a curve for each size of a batch."""
    sizes = sorted(size for size in distinct(theory, "alpha0") if np.isfinite(size))
    one = [float(at_best_rate(theory, size).sel(step=1)) for size in sizes]
    axes.plot(sizes, one, color="black", zorder=3, label="one step", **_SEVERAL["ONE_STEP"])
    split = panel_data(theory, "split")
    for alpha0, look in style.looks(sorted(distinct(split, "alpha0"))).items():
        errors = at_best_rate(split, alpha0).dropna("step")
        samples = alpha0 * errors["step"]
        axes.plot(samples, errors, color=look["color"])
        axes.plot(samples[:1], errors[:1], **look)
        last = last_that_pays(errors)
        if last < _SEEN * errors.size:
            star(axes, float(samples[last]), float(errors[last]), f"{last + 1}", look)
        legend_entry(axes, f"${format_parameter('alpha0', alpha0)}$", **look)
    infinite = float(at_best_rate(theory, np.inf).sel(step=1))
    if np.isfinite(infinite):
        label = f"one step, ${format_parameter('alpha0', np.inf)}$"
        axes.axhline(infinite, label=label, **style.GUIDE)
    axes.set(xscale="log", yscale="log", xlabel=r"samples of all batches, $\alpha_0 k$")


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    figure, places = style.panels(2)
    data = data.isel(alpha_simulated=0, alpha=0, missing_dims="ignore")
    for i, target in enumerate(_SEVERAL["TARGETS"]):
        solved = select(data, target=target)
        budget(places[i], solved)
        best_linear(places[i], solved)
        title_panel(places[i], i, target)
        ticks(places[i], "y", _TICKS)
        places[i].set_ylabel(TEST_ERROR)
    legends_under(places)
    places[0].set_ylim(0.005, 0.3)
    places[1].set_ylim(0.03, 0.8)
    return figure
