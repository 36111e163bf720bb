"""Which plot a view needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from giantstep.explore.plots.base import Plot
from giantstep.explore.plots.curve import CurvePlot
from giantstep.explore.plots.function import FunctionPlot
from giantstep.explore.plots.map import MapPlot
from giantstep.explore.plots.spectrum import SpectrumPlot
from giantstep.explore.view import CURVE, FUNCTION, MAP, SPECTRUM, View
from giantstep.problems.losses import SQUARE

_PLOTS: dict[str, Callable[[View, str], Plot]] = {
    CURVE: CurvePlot,
    FUNCTION: FunctionPlot,
    SPECTRUM: SpectrumPlot,
    MAP: MapPlot,
}


def plot_key(view: View, theme: str) -> tuple[Any, ...]:
    """Return what a plot is made for: if it changes, another plot is made."""
    names = tuple((pin.name, pin.question["bulk"]) for pin in view.pins)
    common = view.tab, theme, view.question["bulk"], names
    if view.tab == CURVE:
        square = view.question["loss"] == SQUARE
        return (*common, view.x, view.axis.scale, view.y_scale, view.by, square)
    if view.tab == MAP:
        return (*common, view.across, view.up, view.colour)
    return common


def make_plot(view: View, theme: str) -> Plot:
    """Make the plot of a view, without data."""
    return _PLOTS[view.tab](view, theme)
