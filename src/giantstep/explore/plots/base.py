"""What the plots of all tabs have in common."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import cycle
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import yaml
from bokeh.models import ColumnDataSource, HoverTool
from bokeh.plotting import figure
from bokeh.themes import Theme

from giantstep.explore.palette import BULK_DASHES, PALETTES, Palette
from giantstep.explore.parameters import OVERLAPS
from giantstep.explore.view import View

# Of the lines that appear over a point, where it is and where it failed.
INK, ALARM = "#1c2330", "#8a1c1c"
_TEXT = "max-width:330px;font:12px/1.45 system-ui,sans-serif"


class LegendEntry(NamedTuple):
    """One entry of the legend, which the page draws.

    Attributes
    ----------
    label, colour : str
    width : float
        Of its line, in pixels; 0 for a dot.
    dash : sequence of int
    """

    label: str
    colour: str
    width: float = 2.0
    dash: tuple[int, ...] | list[int] = ()


class Plot:
    """The plot of one tab, made for the structure of a view.

    Attributes
    ----------
    figure : bokeh figure
    legend : list of LegendEntry
    looks : dict
        How each curve is drawn, by its name and bulk: a colour for each question, dashes for each
        bulk.
    sources : dict
        The data of each curve, likewise.
    """

    def __init__(self, view: View, theme: str, labels: tuple[str, str], **options: Any) -> None:
        self.view, self.palette = view, PALETTES[theme]
        options |= dict(zip(("x_axis_label", "y_axis_label"), labels, strict=True))
        self.figure = figure(
            tools="pan,wheel_zoom,box_zoom,reset", sizing_mode="stretch_both", **options
        )
        self.looks = _looks(view, self.palette)
        self.legend = list(self._questions(view))
        self.sources: dict[tuple[str, str], ColumnDataSource] = {}

    def update(self, view: View, answer: dict[str, Any]) -> None:
        """Show an answer to a view of the same structure."""
        raise NotImplementedError

    def show_networks(self, measured: dict[str, Any]) -> None:
        """Show simulated networks, or none, where a plot has them."""

    def _hover(
        self, renderers: list[Any], title: str, *lines: str, colour: str = INK, **options: Any
    ) -> None:
        """Let lines of text appear over points; `@name{%0.3g}` is a number of their source."""
        text = "<br>".join([f"<b>{title}</b>", *lines])
        html = f'<div style="{_TEXT};color:{colour}">{text}</div>'
        options["formatters"] = dict.fromkeys(re.findall(r"[@$]\w+(?=\{%)", html), "printf")
        tool = HoverTool(renderers=renderers, tooltips=html, attachment="horizontal", **options)
        self.figure.add_tools(tool)

    def _draw_curves(self, y: str, texts: tuple[str, ...], *lines: dict[str, Any]) -> None:
        """Draw lines of each curve, the question's above those of its pins, and what hovers."""
        touched = []
        wide = {"line_width": 16, "line_alpha": 0}  # invisible, and easier to point at
        for (name, bulk), look in reversed(self.looks.items()):
            source = self.sources[name, bulk] = empty("x", y, *(x.get("y", y) for x in lines))
            for line in lines:
                self.figure.line("x", **{"y": y} | look | line, source=source)
            title = f"{name}:" if name else ""
            touched.append(self.figure.line("x", y, source=source, name=title, **wide))
        self._hover(touched, *texts, line_policy="nearest")

    def _questions(self, view: View) -> Iterator[LegendEntry]:
        """Yield an entry for each question, and for each bulk, where there are several."""
        if view.pins:
            for (name, _), colour in zip(view.questions, cycle(self.palette.curves)):
                yield LegendEntry(name or "this question", colour, 3)
        dashes = {bulk: look["line_dash"] for (_, bulk), look in self.looks.items()}
        if len(dashes) > 1:
            for bulk, dash in dashes.items():
                yield LegendEntry(f"bulk: {bulk}", self.palette.text, 2, dash)


@cache
def theme_of(name: str) -> Theme:
    """Return how Bokeh draws plots in the colours and the size of a palette."""
    palette, text = PALETTES[name], Path(__file__).with_name("theme.yaml").read_text("utf-8")
    sizes = {"label_size": 14, "tick_size": 12, "left": 66, "bottom": 52}
    scaled = {name: round(size * palette.scale) for name, size in sizes.items()}
    return Theme(json=yaml.safe_load(Template(text).substitute(palette._asdict() | scaled)))


def _looks(view: View, palette: Palette) -> dict[tuple[str, str], dict[str, Any]]:
    several = len({bulk for _, question in view.questions for bulk in question["bulk"]}) > 1
    return {
        (name, bulk): {"line_color": colour, "line_dash": list(BULK_DASHES[bulk] * several)}
        for (name, question), colour in zip(view.questions, cycle(palette.curves))
        for bulk in question["bulk"]
    }


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
    ends = (1, 1.2, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 10)
    return round_up(value, ends) if value > 0 else 1.0


def round_up(value: float, digits: Sequence[float]) -> float:
    """Round up to one of some numbers from 1 to 10, times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return float(f"{power * next(one for one in digits if one * power >= value * 0.999999):.6g}")


def overlap_texts(points: dict[str, Any]) -> list[str]:
    """Write all overlaps of each point in one line; those of several groups after each other."""
    return [
        "  ".join(
            f"{symbol}\u00a0{', '.join(f'{value:.4g}' for value in values[:9])}"
            for symbol, values in zip(OVERLAPS.values(), row, strict=True)
        )
        for row in zip(*(points[name].tolist() for name in OVERLAPS), strict=True)
    ]
