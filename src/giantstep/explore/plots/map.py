"""The map: the test error over two parameters, with level lines."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import ColorBar, FixedTicker, LinearColorMapper, Range1d
from bokeh.palettes import Viridis256
from contourpy import contour_generator

from giantstep.arrays import Array
from giantstep.explore.plots.base import FONT, Plot, empty
from giantstep.explore.symbols import axis_label
from giantstep.explore.view import AXES, LOG, View

_LEVELS = 8
# A level line with fewer corners is not labelled.
_LONG = 8
_TOOLTIP = """<div style="max-width:280px;font:12px/1.45 system-ui,sans-serif;color:#1c2330">
<b>@image{0.0000}</b> at ($x{0.000}, $y{0.0000})<div>@advice</div></div>"""


class MapPlot(Plot):
    """The test error over two parameters, with level lines."""

    def __init__(self, view: View, theme: str) -> None:
        x, y = AXES[view.across], AXES[view.up]
        super().__init__(
            view,
            theme,
            x_axis_type=x.scale,
            y_axis_type=y.scale,
            x_range=Range1d(x.start, x.stop),
            y_range=Range1d(y.start, y.stop),
        )
        plot = self.figure
        plot.xaxis.axis_label = axis_label(view.across)
        plot.yaxis.axis_label = axis_label(view.up)
        plot.grid.visible = False
        self.image = empty("image", "x", "y", "width", "height", "advice")
        self.mapper = LinearColorMapper(palette=Viridis256[::-1], nan_color="#9aa3b2")
        box = {"x": "x", "y": "y", "dw": "width", "dh": "height"}
        drawn = plot.image("image", **box, source=self.image, color_mapper=self.mapper)
        self.lines, self.labels = empty("xs", "ys"), empty("x", "y", "text")
        plot.multi_line("xs", "ys", source=self.lines, line_color="#10151f", line_alpha=0.6)
        look = {"text_color": "#10151f", "text_font_size": "11px", "text_font": value(FONT)}
        halo = {"background_fill_color": "#ffffffb0", "padding": 1, "text_align": "center"}
        plot.text("x", "y", "text", source=self.labels, text_baseline="middle", **look, **halo)
        self.here = empty("x", "y")
        cross = {"marker": "cross", "size": 16, "line_width": 2, "line_color": "#e02b2b"}
        plot.scatter("x", "y", source=self.here, **cross)
        self.bar = ColorBar(color_mapper=self.mapper, width=14, background_fill_color=None)
        self.bar.major_label_text_color = self.palette.text
        self.bar.major_label_text_font = FONT
        plot.add_layout(self.bar, "right")
        self._hover([drawn], _TOOLTIP)

    def update(self, view: View, answer: dict[str, Any]) -> None:
        """Show an answer."""
        at = view.question
        self.here.data = {"x": [getattr(at, view.across)], "y": [getattr(at, view.up)]}
        if answer["values"] is None:
            return
        values, x, y = answer["values"], answer["x"], answer["y"]
        left, right = _cell_edges(x, answer["x_scale"])
        low, high = _cell_edges(y, answer["y_scale"])
        self.image.data = {
            "image": [values],
            "advice": [answer["advice"].tolist()],
            "x": [left],
            "y": [low],
            "width": [right - left],
            "height": [high - low],
        }
        finite = values[np.isfinite(values)]
        if finite.size:
            bottom, top = (float(q) for q in np.quantile(finite, (0.0, 0.97)))
            top = max(top, bottom + 1e-6)
            self.mapper.update(low=bottom, high=top)
            self._draw_levels(x, y, values, bottom, top)

    def _draw_levels(self, x: Array, y: Array, values: Array, low: float, high: float) -> None:
        levels = round_levels(low, high)
        self.bar.ticker = FixedTicker(ticks=list(levels))
        lines = contour_generator(x, y, np.ma.masked_invalid(values))
        drawn: list[tuple[float, Any]] = [
            (level, line) for level in levels for line in lines.lines(level) if len(line) > 1
        ]
        self.lines.data = {
            "xs": [line[:, 0] for _, line in drawn],
            "ys": [line[:, 1] for _, line in drawn],
        }
        middle = [(level, line[len(line) // 2]) for level, line in drawn if len(line) > _LONG]
        self.labels.data = {
            "x": [place[0] for _, place in middle],
            "y": [place[1] for _, place in middle],
            "text": [f"{level:g}" for level, _ in middle],
        }


def _cell_edges(values: Array, scale: str) -> tuple[float, float]:
    """Return where the first cell begins and the last one ends."""
    at = np.log(values) if scale == LOG else values
    half = (at[-1] - at[0]) / (2 * (at.size - 1))
    ends = np.array([at[0] - half, at[-1] + half])
    low, high = np.exp(ends) if scale == LOG else ends
    return float(low), float(high)


def round_levels(low: float, high: float) -> Array:
    """Return about eight round numbers between two."""
    step = (high - low) / _LEVELS
    power = 10.0 ** math.floor(math.log10(step))
    step = power * next(s for s in (1, 2, 2.5, 5, 10) if s * power >= step)
    levels = np.arange(math.ceil(low / step), math.floor(high / step) + 1) * step
    return np.array([float(f"{level:.6g}") for level in levels])
