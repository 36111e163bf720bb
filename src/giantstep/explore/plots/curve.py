"""The learning curve: test and training errors along one parameter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from bokeh.models import Range1d, Whisker

from giantstep.arrays import Array
from giantstep.explore.palette import FINITE, LINEAR, LOWER, UPPER
from giantstep.explore.parameters import LOG, SYMBOLS, axis_label
from giantstep.explore.plots.base import (
    ALARM,
    LegendEntry,
    Plot,
    empty,
    overlap_texts,
    round_top,
)
from giantstep.explore.view import ERRORS, View
from giantstep.problems.losses import SQUARE
from giantstep.theory.optima import TEST_ERROR

# The ends of an axis are a little outside, so that markers at its ends are whole.
_PADDED = (-0.015, 1.015)
_LIMITS: dict[str, tuple[str, tuple[int, ...]]] = {
    "best_linear": ("best linear", LINEAR),
    "upper_bound": ("upper bound, best λ", UPPER),
    "lower_bound": ("lower bound", LOWER),
}


class CurvePlot(Plot):
    """Test and training errors along one parameter."""

    def __init__(self, view: View, theme: str) -> None:
        axis = view.axis
        scales = {"x_axis_type": axis.scale, "y_axis_type": view.y_scale}
        ranges = {"x_range": axis.at(_PADDED).tolist(), "y_range": (0, 1)}
        labels = axis_label(view.x), "error"
        super().__init__(view, theme, labels, **ranges, **scales)
        self.figure.extra_y_ranges = {"height": Range1d(0, 1)}
        self.limits = empty("x", *_LIMITS)
        self.failures = empty("x", "y", "advice")
        self.errors: Array = np.empty(0)
        self.networks = empty(*_OF_NETWORKS)
        self.finite = empty("x", "y")
        self._draw_limits()
        lines: list[dict[str, Any]] = [{"line_width": 2.4}]
        if view.by == TEST_ERROR:
            lines.append({"y": "training_error", "line_width": 1.2, "line_alpha": 0.65})
        others = "" if view.by == TEST_ERROR else f"{ERRORS[view.by]} @{view.by}{{%0.4g}}, "
        texts = (
            f"$name {SYMBOLS[view.x]} = @x{{%0.4g}}",
            f"{others}test @test_error{{%0.5g}}, training @training_error{{%0.5g}},"
            " λ = @ridge{%0.3g}",
            "@overlaps",
            "residual @residual{%0.0e}, quadrature error @quadrature_error{%0.0e}",
        )
        self._draw_curves(view.by, texts, *lines)
        self._draw_failures()
        self._draw_networks()

    def _draw_limits(self) -> None:
        """Draw limits on the test error in the question's colour, and fill the legend."""
        colour, square = self.palette.curves[0], self.view.question["loss"] == SQUARE
        ink = self.palette.text if self.view.pins else colour
        self.legend.append(LegendEntry(ERRORS[self.view.by], ink, 2.4))
        if self.view.by != TEST_ERROR:
            return
        self.legend.append(LegendEntry("training error", ink, 1))
        for name, (label, dash) in _LIMITS.items():
            if name == "upper_bound" and not square:  # it is the limit of a large ridge
                continue
            look = {"line_color": colour, "line_dash": list(dash), "line_width": 1.2}
            self.figure.line("x", name, source=self.limits, line_alpha=0.75, **look)
            self.legend.append(LegendEntry(label, colour, 1.2, dash))

    def _draw_failures(self) -> None:
        look = {"marker": "x", "size": 8, "line_color": self.palette.failure}
        place = {"source": self.failures, "y_range_name": "height"}
        drawn = self.figure.scatter("x", "y", **look, **place)
        title = f"No solution at {SYMBOLS[self.view.x]} = @x{{%0.4g}}"
        self._hover([drawn], title, "@advice", colour=ALARM)

    def _draw_networks(self) -> None:
        """Draw means of networks with their standard errors, and their own theory."""
        colour = self.palette.curves[0]
        look = {"line_color": colour, "line_width": 1.2, "line_dash": list(FINITE)}
        self.figure.line("x", "y", source=self.finite, **look)
        bars = Whisker(base="x", lower="low", upper="high", source=self.networks)
        bars.update(line_color=colour, line_width=1.3)
        for head in (bars.upper_head, bars.lower_head):
            head.update(size=5, line_color=colour)
        self.figure.add_layout(bars)
        look = {"size": 7, "line_color": colour, "fill_color": self.palette.ground}
        dots = self.figure.scatter("x", "mean", source=self.networks, line_width=1.6, **look)
        self.of_networks = [
            LegendEntry("networks", colour, 0),
            LegendEntry("theory of these networks", colour, 1.2, FINITE),
        ]
        measured = "mean @mean{%0.5g}, standard error @stderr{%0.2g}, z = @z{%+.2f}"
        self._hover([dots], f"Networks at {SYMBOLS[self.view.x]} = @x{{%0.4g}}", measured)

    def update(self, view: View, answer: dict[str, Any]) -> None:
        """Show an answer."""
        self.view = view
        start, end = view.axis.at(_PADDED).tolist()
        self.figure.x_range.update(start=start, end=end)
        self.limits.data = dict(answer["limits"])
        curves = answer["curves"]
        for curve in curves:
            drawn = {name: curve[name] for name in {*_DRAWN, view.by}}
            drawn["overlaps"] = overlap_texts(curve)
            self.sources[curve["name"], curve["bulk"]].data = drawn
        tops = [curve[view.by] for curve in curves]
        if view.by == TEST_ERROR:
            tops += [answer["limits"]["best_linear"], *(c["training_error"] for c in curves)]
        x, advice = (np.concatenate([c[name] for c in curves]) for name in ("x", "advice"))
        failed = advice != ""
        heights = np.full(failed.sum(), 0.015)
        self.failures.data = {"x": x[failed], "y": heights, "advice": advice[failed].tolist()}
        self.errors = np.concatenate(tops)
        self._scale()

    def _scale(self) -> None:
        """Choose round ends of the axis of errors, so that it keeps still under a moving curve."""
        values = np.concatenate([self.errors, self.networks.data["high"], self.finite.data["y"]])
        seen = values[np.isfinite(values) & (values > 0)]
        if not seen.size:
            return
        top = float(np.nanmax(seen))
        # A peak far above everything else would hide the rest.
        start, end = 0.0, round_top(min(top, 10 * float(np.median(seen))))
        if self.view.y_scale == LOG:
            low, high = math.floor(math.log10(seen.min())), math.log10(top)
            start, end = 10.0 ** max(low, high - 8), 10 ** (high + 0.3)
        self.figure.y_range.update(start=start, end=end)

    def show_networks(self, measured: dict[str, Any]) -> None:
        """Show simulated networks, or none; of other errors than the test error, none."""
        measured = measured if self.view.by == TEST_ERROR else {}
        self.finite.data = {name: measured.get("theory", {}).get(name, []) for name in ("x", "y")}
        self.networks.data = {name: measured.get(name, []) for name in _OF_NETWORKS}
        entries = [entry for entry in self.legend if entry not in self.of_networks]
        self.legend = entries + (self.of_networks if "mean" in measured else [])
        self._scale()


# What is drawn of a curve, or appears over its points, besides the error that is shown.
_DRAWN = ("x", "test_error", "training_error", "ridge", "residual", "quadrature_error")


# And of simulated networks.
_OF_NETWORKS = ("x", "mean", "stderr", "z", "low", "high")
