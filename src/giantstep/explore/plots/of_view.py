"""Which plot a view needs."""

from __future__ import annotations

from typing import Any

from giantstep.explore.plots.base import Plot
from giantstep.explore.plots.curve import CurvePlot
from giantstep.explore.plots.function import FunctionPlot
from giantstep.explore.plots.map import MapPlot
from giantstep.explore.plots.spectrum import SpectrumPlot
from giantstep.explore.view import CURVE, FUNCTION, MAP, SPECTRUM, View
from giantstep.problems.losses import SQUARE

_PLOTS = {CURVE: CurvePlot, FUNCTION: FunctionPlot, SPECTRUM: SpectrumPlot, MAP: MapPlot}


def plot_key(view: View, theme: str) -> tuple[Any, ...]:
    """Return what a plot is made for: if it changes, another plot is made."""
    curves = tuple((name, question["bulk"]) for name, question in view.questions)
    of_curve = view.x, view.axis.scale, view.y_scale, view.by, view.question["loss"] == SQUARE
    return view.tab, theme, curves, of_curve, view.across, view.up, view.colour


def make_plot(view: View, theme: str) -> Plot:
    """Make the plot of a view, without data."""
    return _PLOTS[view.tab](view, theme)
