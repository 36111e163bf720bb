"""The learned function: the mean output of the trained network along the target."""

from __future__ import annotations

from typing import Any

import numpy as np

from giantstep.explore.plots.base import LegendEntry, Plot, empty, overlap_texts, round_top
from giantstep.explore.view import View


class FunctionPlot(Plot):
    """The mean output of the trained network along the target."""

    def __init__(self, view: View, theme: str) -> None:
        labels = "projection on the target θ·x", "mean output F(θ·x)"
        super().__init__(view, theme, labels, x_range=(-3, 3), y_range=(-1.5, 1.5))
        self.target = empty("x", "y")
        look = {"line_color": self.palette.muted, "line_alpha": 0.5, "line_width": 4}
        self.figure.line("x", "y", source=self.target, **look)
        texts = "θ·x = @x{%0.3g}, F = @y{%0.4g}", "test error @test_error{%0.5g}", "@overlaps"
        self._draw_curves("y", (*texts, "@accuracy"), {"line_width": 2.2})
        first = self.palette.text if view.pins else self.palette.curves[0]
        self.legend.append(LegendEntry("learned function", first, 2.2))
        self.legend.append(LegendEntry("target", self.palette.muted, 4))

    def update(self, view: View, answer: dict[str, Any]) -> None:
        """Show an answer."""
        self.target.data = dict(answer["target"])
        inside = [self.target.data["y"]]
        for curve in answer["curves"]:
            accuracy = curve["advice"][0] or f"residual {curve['residual'].item():.0e}"
            texts = {"overlaps": overlap_texts(curve)[0], "accuracy": accuracy}
            texts["test_error"] = curve["test_error"].item()
            of_all = {name: [text] * curve["x"].size for name, text in texts.items()}
            drawn = {"x": curve["x"], "y": curve["y"]}
            self.sources[curve["name"], curve["bulk"]].data = drawn | of_all
            inside.append(curve["y"])
        values = np.concatenate(inside)
        low, high = np.nanmin(values), np.nanmax(values)
        top, bottom = round_top(1.05 * max(high, 0.1)), round_top(1.05 * max(-low, 0.1))
        self.figure.y_range.update(start=-bottom if low < 0 else -0.05 * top, end=top)
