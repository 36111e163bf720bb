"""Figure S12: test error against the dimension, for steps that grow with it more slowly."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.figures import style
from giantstep.figures.elements import legend_entry, legends_under, markers, title_panel
from giantstep.figures.labels import TEST_ERROR, format_parameter
from giantstep.figures.selection import distinct, in_limit, panel_data, select

_DEGREES = (1, 3, 5)
_LETTERS = ("one value", "two values", "three values")


def against_dimension(axes: Axes, curves: xr.Dataset, look: style.Look) -> None:
    """Draw the theory as a line through the simulations of networks of several dimensions."""
    curves = curves.isel(alpha_simulated=0).sortby("dimension")
    first = curves.isel(curve=0)
    errors = first["test_error_at_dimension"]
    axes.plot(first["theory_dimension"], errors, color=look["color"], **style.FINITE_SIZE)
    markers(axes, curves["dimension"], curves, "test_error", look)


def exponents(axes: Axes, data: xr.Dataset, looks: dict[float, style.Look]) -> None:
    """Draw a curve for each step exponent."""
    for step in distinct(data, "step_exponent"):
        against_dimension(axes, select(data, step_exponent=step), looks[step])


def letters(axes: Axes, data: xr.Dataset) -> None:
    """Draw a curve for each number of letters, of the targets of degree 3 and 5."""
    looks = style.looks(distinct(data, "readout"))
    for name, (readout, look) in zip(_LETTERS, looks.items(), strict=True):
        for target, face in zip(distinct(data, "target"), (style.OPEN, {}), strict=True):
            curves = select(data, readout=readout, target=target)
            against_dimension(axes, curves, look | face)
        legend_entry(axes, name, **look, **style.FINITE_SIZE)
    plain = style.look("black") | {"linestyle": "none"}
    legend_entry(axes, "degree 5", **plain)
    legend_entry(axes, "degree 3", **plain | style.OPEN)


def predictors(axes: Axes, count: int) -> None:
    """Draw the errors of the best predictors that lack the last degree, the last two, and so on."""
    for name, error in zip(("linear", "cubic"), range(count, 0, -1), strict=False):
        axes.axhline(error, **style.REFERENCE)
        place: dict[str, Any] = {"ha": "right", "va": "top", "fontsize": 7.5}
        where = axes.get_yaxis_transform(), "offset points"
        axes.annotate(f"best {name} predictor", (1, error), (0, -2), *where, **place)


def draw(data: xr.Dataset, config: dict[str, Any]) -> Figure:
    """Draw the figure from its merged Dataset and its YAML."""
    data = in_limit(data)
    figure, places = style.panels(4)
    steps = distinct(data, "step_exponent")
    looks = style.looks(steps)
    for i, degree in enumerate(_DEGREES):
        axes = places[i]
        shown = panel_data(data, f"degree{degree}")
        exponents(axes, shown, looks)
        predictors(axes, i)
        title_panel(axes, i, f"target of degree {degree}")
        for step, look in looks.items():
            giant = ", giant step" if step == max(steps) else ""
            label = f"${format_parameter('step_exponent', step)}${giant}"
            legend_entry(axes, label, **look, **style.FINITE_SIZE)
    last = panel_data(data, "letters")
    letters(places[3], last)
    step = format_parameter("step_exponent", last["step_exponent"].values[0])
    title_panel(places[3], 3, f"numbers of values, ${step}$")
    for axes in places:
        axes.set(xscale="log", xlim=(40, 1e9), xticks=10.0 ** np.arange(2, 10))
        axes.set(xlabel="dimension $d$", ylabel=TEST_ERROR)
        axes.set_ylim(bottom=0)
    legends_under(places)
    return figure
