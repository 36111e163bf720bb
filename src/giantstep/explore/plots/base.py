"""What the plots of all tabs have in common."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from bokeh.models import ColumnDataSource, HoverTool
from bokeh.plotting import figure

from giantstep.explore.palette import BULK_DASHES, PALETTES, Palette
from giantstep.explore.parameters import BULK_WORDS, OVERLAPS
from giantstep.explore.view import View

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif"
TOOLTIP = """<div style="max-width:330px;font:12px/1.45 system-ui,sans-serif;color:#1c2330">
<div style="font-weight:600">@title</div><div>@errors</div>
<div style="color:#4c586b">@overlaps</div><div style="color:#7a8494">@certificate</div></div>"""
FAILURE_TOOLTIP = """<div style="max-width:300px;font:12px/1.45 system-ui,sans-serif;color:#8a1c1c">
<div style="font-weight:600">@title</div>@advice</div>"""


class LegendEntry(NamedTuple):
    """One entry of the legend, which the page draws.

    Attributes
    ----------
    label, colour : str
    width : float
        Of its line, in pixels; 0 for a dot.
    dash : tuple of int
    """

    label: str
    colour: str
    width: float = 2.0
    dash: tuple[int, ...] = ()


class Look(NamedTuple):
    """How a curve is drawn: a colour for each question, dashes for each bulk."""

    name: str
    bulk: str
    colour: str
    dash: tuple[int, ...]


class Plot:
    """The plot of one tab, made for the structure of a view.

    Attributes
    ----------
    figure : bokeh figure
    legend : list of LegendEntry
    sources : dict
        The data of each curve, by its name and bulk.
    """

    def __init__(self, view: View, theme: str, labels: tuple[str, str], **options: Any) -> None:
        self.view, self.palette = view, PALETTES[theme]
        options |= dict(zip(("x_axis_label", "y_axis_label"), labels, strict=True))
        self.figure = _empty_figure(self.palette, **options)
        self.looks = list(_looks(view, self.palette))
        self.legend = list(self._questions(view))
        self.sources: dict[tuple[str, str], ColumnDataSource] = {}

    def update(self, view: View, answer: dict[str, Any]) -> None:
        """Show an answer to a view of the same structure."""
        raise NotImplementedError

    def show_networks(self, measured: dict[str, Any] | None) -> None:
        """Show simulated networks, or none, where a plot has them."""

    def _hover(self, renderers: list[Any], tooltips: str, **options: Any) -> None:
        tool = HoverTool(renderers=renderers, tooltips=tooltips, attachment="horizontal", **options)
        self.figure.add_tools(tool)

    def _draw_curves(
        self, y: str, columns: tuple[str, ...], tooltips: str, *lines: dict[str, Any]
    ) -> None:
        """Draw lines of each curve, the question's above those of its pins, and what hovers."""
        touched = []
        wide = {"line_width": 16, "line_alpha": 0}  # invisible, and easier to point at
        for look in reversed(self.looks):
            source = self.sources[look.name, look.bulk] = empty("x", *columns)
            style = {"line_color": look.colour, "line_dash": list(look.dash), "source": source}
            for line in lines:
                self.figure.line("x", **{"y": y} | style | line)
            touched.append(self.figure.line("x", y, source=source, **wide))
        self._hover(touched, tooltips, line_policy="nearest")

    def _questions(self, view: View) -> Iterator[LegendEntry]:
        """Yield an entry for each question, and for each bulk, where there are several."""
        colours = self.palette.curves
        if view.pins:
            yield LegendEntry("this question", colours[0], 3)
        for k, pin in enumerate(view.pins):
            yield LegendEntry(pin.name, colours[(k + 1) % len(colours)], 3)
        dashes = {look.bulk: look.dash for look in self.looks}
        if len(dashes) > 1:
            for bulk, dash in dashes.items():
                yield LegendEntry(f"bulk: {BULK_WORDS[bulk]}", self.palette.text, 2, dash)


def _empty_figure(palette: Palette, **options: Any) -> Any:
    plot = figure(
        sizing_mode="stretch_both",
        tools="pan,wheel_zoom,box_zoom,reset",
        toolbar_location="right",
        min_border_left=int(66 * palette.scale),
        min_border_bottom=int(52 * palette.scale),
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        **options,
    )
    plot.toolbar.logo = None
    plot.toolbar.autohide = True
    for axis in plot.axis:
        axis.axis_label_text_font = axis.major_label_text_font = FONT
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font_size = f"{14 * palette.scale:g}px"
        axis.major_label_text_font_size = f"{12 * palette.scale:g}px"
        axis.axis_label_text_color = axis.major_label_text_color = palette.text
        axis.axis_line_color = axis.major_tick_line_color = palette.muted
        axis.minor_tick_line_color = None
    for grid in plot.grid:
        grid.grid_line_color = palette.grid
    return plot


def _looks(view: View, palette: Palette) -> Iterator[Look]:
    """Return colour and dashes of each curve: a colour for each question, dashes for each bulk."""
    bulks = dict.fromkeys(bulk for _, question in view.questions for bulk in question["bulk"])
    dashes = {bulk: BULK_DASHES[bulk] if len(bulks) > 1 else () for bulk in bulks}
    for k, (name, question) in enumerate(view.questions):
        for bulk in question["bulk"]:
            yield Look(name, bulk, palette.curves[k % len(palette.curves)], dashes[bulk])


def empty(*columns: str) -> ColumnDataSource:
    """Make a source without rows."""
    return ColumnDataSource({name: [] for name in columns})


def round_top(value: float) -> float:
    """Round up to a number that an axis may end at.

    Examples
    --------
    >>> from giantstep.explore.plots.base import round_top
    >>> round_top(0.63), round_top(3.1)
    (0.7, 3.5)
    """
    if not value > 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    ends = (1, 1.2, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 10)
    return float(f"{power * next(end for end in ends if end * power >= value * 0.999999):.6g}")


def overlap_texts(points: dict[str, Any]) -> list[str]:
    """Write all overlaps of each point in one line; those of several groups after each other."""
    return [
        "  ".join(
            f"{symbol}\u00a0{', '.join(f'{value:.4g}' for value in values[:9])}"
            for symbol, values in zip(OVERLAPS.values(), row, strict=True)
        )
        for row in zip(*(points[name].tolist() for name in OVERLAPS), strict=True)
    ]
