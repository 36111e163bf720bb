"""The map: the test error over two parameters, with level lines."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from bokeh.models import ColorBar, FixedTicker, LinearColorMapper
from bokeh.palettes import Viridis256
from contourpy import contour_generator
from scipy.ndimage import zoom

from giantstep.arrays import Array
from giantstep.explore.parameters import axis_label
from giantstep.explore.plots.base import Plot, empty, round_up
from giantstep.explore.view import ERROR, View

_LEVELS = 8
# Pixels for each cell that was solved, in between which the map is linear.
_PIXELS = 4


class MapPlot(Plot):
    """The test error over two parameters, with level lines."""

    def __init__(self, view: View, theme: str) -> None:
        self.axes = x, y = tuple(view.axes.values())
        self.gain = view.colour != ERROR
        self.unit = " %" if self.gain else ""
        scales = {"x_axis_type": x.scale, "y_axis_type": y.scale}
        ranges = {"x_range": (x.start, x.stop), "y_range": (y.start, y.stop)}
        labels = axis_label(view.across), axis_label(view.up)
        super().__init__(view, theme, labels, **scales, **ranges)
        self.figure.grid.visible = False
        self.image = empty("image", "advice")
        # Yellow is good: a small error, or a large gain.
        self.mapper = LinearColorMapper(
            palette=Viridis256 if self.gain else Viridis256[::-1], nan_color="#9aa3b2"
        )
        box = {"x": x.start, "y": y.start, "dw": x.stop - x.start, "dh": y.stop - y.start}
        drawn = self.figure.image("image", **box, source=self.image, color_mapper=self.mapper)
        self.lines = empty("xs", "ys")
        self.figure.multi_line("xs", "ys", source=self.lines, line_color="#10151f", line_alpha=0.6)
        self.here = empty("x", "y")
        cross = {"marker": "cross", "size": 16, "line_width": 2, "line_color": "#e02b2b"}
        self.figure.scatter("x", "y", source=self.here, **cross)
        self.ticker = FixedTicker(ticks=[])  # the bar would not look at another one
        self.bar = ColorBar(color_mapper=self.mapper, ticker=self.ticker, width=14)
        self.figure.add_layout(self.bar, "right")
        value = f"@image{{%0.4f}}{self.unit} at ($x{{%0.3f}}, $y{{%0.4f}})"
        self._hover([drawn], value, "@advice")

    def update(self, view: View, answer: dict[str, Any]) -> None:
        """Show an answer."""
        at = view.question
        self.here.data = {"x": [at[view.across]], "y": [at[view.up]]}
        values = answer["values"] * (100 if self.gain else 1)
        # The places of pixels among cells that are counted from 0.
        rows, columns = (np.linspace(0, n - 1, _PIXELS * (n - 1) + 1) for n in values.shape)
        fine = zoom(values, [rows.size / len(values), columns.size / values.shape[1]], order=1)
        nearest = np.ix_(np.rint(rows).astype(int), np.rint(columns).astype(int))
        advice = answer["advice"]
        texts = advice[nearest].tolist() if advice.any() else ""
        self.image.data = {"image": [fine], "advice": [texts]}
        finite = values[np.isfinite(values)]
        if finite.size:
            most = (0.03, 1.0) if self.gain else (0.0, 0.97)
            bottom, top = (float(q) for q in np.quantile(finite, most))
            top = max(top, bottom + 1e-3 * max(abs(bottom), 1e-3))
            self.mapper.update(low=bottom, high=top)
            self._draw_levels(values, round_levels(bottom, top))

    def _draw_levels(self, values: Array, levels: Array) -> None:
        """Draw level lines, found where the plot is a square of side 1; the bar labels them."""
        texts = {level: f"{level:g}{self.unit}".replace("-", "−") for level in levels.tolist()}
        self.ticker.ticks = list(texts)
        self.bar.major_label_overrides = texts
        sides = [np.linspace(0, 1, cells) for cells in values.shape]
        lines = contour_generator(sides[1], sides[0], np.ma.masked_invalid(values))
        drawn = [np.array(line) for level in levels for line in lines.lines(level)]
        self.lines.data = {
            "xs": [self.axes[0].at(line[:, 0]) for line in drawn],
            "ys": [self.axes[1].at(line[:, 1]) for line in drawn],
        }


def round_levels(low: float, high: float) -> Array:
    """Return about eight round numbers between two."""
    step = round_up((high - low) / _LEVELS, (1, 2, 2.5, 5, 10))
    levels = np.arange(math.ceil(low / step), math.floor(high / step) + 1) * step
    return np.array([float(f"{level:.6g}") for level in levels])
