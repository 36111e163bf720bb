"""The spectrum: the density of the eigenvalues of the features' covariance."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import Range1d

from giantstep.explore.plots.base import TOOLTIP, Plot, round_top
from giantstep.explore.view import View


class SpectrumPlot(Plot):
    """The density of the eigenvalues of the features' covariance, and those outside its bulk."""

    def __init__(self, view: View, theme: str) -> None:
        self.x_range, self.y_range = Range1d(0.01, 100), Range1d(0, 1)
        ranges = {"x_range": self.x_range, "y_range": self.y_range}
        labels = "eigenvalue x of ΦᵀΦ", "density of ln x,  x ρ(x)"
        super().__init__(view, theme, labels, x_axis_type="log", **ranges)
        short = TOOLTIP.replace("@overlaps", "").replace("@certificate", "")
        self._draw_curves("y", ("y", "title", "errors"), short, {"line_width": 2})
        for look in self.looks:
            shade = {"fill_color": look.colour, "fill_alpha": 0.08}
            source = self.sources[look.name, look.bulk]
            self.figure.varea(x="x", y1=0, y2="y", source=source, **shade)

    def update(self, view: View, answer: dict[str, Any]) -> None:
        """Show an answer."""
        ends, tops = [], []
        for curve in answer["curves"]:
            x, density = curve["x"], curve["density"]
            self.sources[curve["name"], curve["bulk"]].data = {
                "x": x,
                "y": x * density,
                "title": [f"x = {value:.4g}" for value in x],
                "errors": [f"density ρ = {value:.4g}" for value in density],
            }
            ends += [np.nanmin(x), np.nanmax(x)]
            tops.append(float(np.nanmax(x * density)))
        self.x_range.update(start=0.8 * min(ends), end=1.25 * max(ends))
        self.y_range.update(start=0, end=round_top(1.1 * max(tops)))
