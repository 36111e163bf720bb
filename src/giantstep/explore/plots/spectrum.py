"""The spectrum: the density of the eigenvalues of the features' covariance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from giantstep.explore.plots.base import Plot, empty, round_top
from giantstep.explore.view import View


class SpectrumPlot(Plot):
    """The density of the eigenvalues of the features' covariance, and those outside its bulk."""

    def __init__(self, view: View, theme: str) -> None:
        ranges = {"x_range": (0.01, 100), "y_range": (0, 1)}
        labels = "eigenvalue x of ΦᵀΦ", "density of ln x,  x ρ(x)"
        super().__init__(view, theme, labels, x_axis_type="log", **ranges)
        texts = "x = @x{%0.4g}", "density ρ = @density{%0.4g}"
        self._draw_curves("y", texts, {"line_width": 2})
        for curve, look in self.looks.items():
            shade = {"fill_color": look["line_color"], "fill_alpha": 0.08}
            self.figure.varea(x="x", y1=0, y2="y", source=self.sources[curve], **shade)
        self._draw_outliers()

    def _draw_outliers(self) -> None:
        """Draw eigenvalues outside the bulk as lines with a dot, and what they are."""
        self.outliers = empty("x", "top", "label", "colour")
        common = {"source": self.outliers, "line_color": "colour"}
        self.figure.segment("x", 0, "x", "top", line_width=2, **common)
        self.figure.scatter("x", "top", size=8, fill_color=self.palette.ground, **common)
        text = {"text_color": "colour", "text_align": "right", "source": self.outliers}
        self.figure.text("x", "top", "label", y_offset=-8, **text)

    def update(self, view: View, answer: dict[str, Any]) -> None:
        """Show an answer."""
        ends, tops = [], []
        for curve in answer["curves"]:
            x, density = curve["x"], curve["density"]
            drawn = {"x": x, "density": density, "y": x * density}
            self.sources[curve["name"], curve["bulk"]].data = drawn
            ends += [np.nanmin(x), np.nanmax(x)]
            tops.append(float(np.nanmax(x * density)))
        top = round_top(1.1 * max(tops))
        edge = 2 * max(ends)  # where those of order d stand as d grows
        rows = list(self._outside(answer["curves"], edge, 0.12 * top))
        self.outliers.data = {
            name: [row[place] for row in rows] for place, name in enumerate(self.outliers.data)
        }
        places = [*ends, *self.outliers.data["x"]]
        self.figure.x_range.update(start=0.8 * min(ends), end=1.25 * max(places))
        self.figure.y_range.update(start=0, end=top)

    def _outside(
        self, curves: list[dict[str, Any]], edge: float, height: float
    ) -> Iterator[tuple[float, float, str, str]]:
        """Yield where each eigenvalue outside a bulk is drawn, its label and its colour."""
        for place, curve in enumerate(curves, start=1):
            limit, look = math.isinf(curve["dimension"]), self.looks[curve["name"], curve["bulk"]]
            for outlier in curve["outliers"]:
                x = edge if limit else outlier * curve["dimension"]
                yield x, height * place, f"{outlier:.3g} d{' →' * limit}", look["line_color"]
