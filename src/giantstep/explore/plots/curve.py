"""The learning curve: test and training errors along one parameter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from bokeh.models import Range1d, Whisker

from giantstep.arrays import Array
from giantstep.explore.palette import FINITE, LINEAR, LOWER, UPPER
from giantstep.explore.parameters import LOG, SYMBOLS, axis_label, number_text
from giantstep.explore.plots.base import (
    FAILURE_TOOLTIP,
    TOOLTIP,
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


class CurvePlot(Plot):
    """Test and training errors along one parameter."""

    def __init__(self, view: View, theme: str) -> None:
        axis = view.axis
        self.y_range = Range1d(0, 1)
        scales = {"x_axis_type": axis.scale, "y_axis_type": view.y_scale}
        x_range = Range1d(*axis.at(_PADDED).tolist())
        labels = axis_label(view.x), "error"
        super().__init__(view, theme, labels, x_range=x_range, y_range=self.y_range, **scales)
        self.figure.extra_y_ranges = {"height": Range1d(0, 1)}
        self.limits = empty("x", "best_linear", "upper_bound", "lower_bound")
        self.failures = empty("x", "y", "title", "advice")
        self.errors: Array = np.empty(0)
        self.networks = empty("x", "y", "low", "high", "title", "advice", "certificate")
        self.finite = empty("x", "y")
        self._draw_limits()
        lines: list[dict[str, Any]] = [{"line_width": 2.4}]
        if view.by == TEST_ERROR:
            lines.append({"y": "training", "line_width": 1.2, "line_alpha": 0.65})
        self._draw_curves("error", _COLUMNS, TOOLTIP, *lines)
        self._draw_failures()
        self._draw_networks()

    def _draw_limits(self) -> None:
        colours = self.palette
        first = colours.text if self.view.pins else colours.curves[0]
        if self.view.by != TEST_ERROR:
            self.legend.append(LegendEntry(ERRORS[self.view.by], first, 2.4))
            return
        self.legend.append(LegendEntry("test error", first, 2.4))
        self.legend.append(LegendEntry("training error", first, 1))
        linear, upper, lower, whose = colours.text, colours.upper, colours.lower, ""
        if self.view.pins:  # they have colours of their own; limits are those of the question
            linear = upper = lower = colours.curves[0]
            whose = " of this question"
        looks: list[tuple[str, str, str, tuple[int, ...]]] = [
            ("best_linear", f"best linear{whose}", linear, LINEAR),
            ("upper_bound", f"upper bound{whose}, best λ", upper, UPPER),
            ("lower_bound", f"lower bound{whose}", lower, LOWER),
        ]
        if self.view.question["loss"] != SQUARE:  # the upper bound is the limit of a large ridge
            del looks[1]
        for name, label, colour, dash in looks:
            look = {"line_color": colour, "line_dash": list(dash), "line_width": 1.2}
            self.figure.line("x", name, source=self.limits, line_alpha=0.75, **look)
            self.legend.append(LegendEntry(label, colour, 1.2, dash))

    def _draw_failures(self) -> None:
        look = {"marker": "x", "size": 8, "line_color": self.palette.upper}
        place = {"source": self.failures, "y_range_name": "height"}
        drawn = self.figure.scatter("x", "y", **look, **place)
        self._hover([drawn], FAILURE_TOOLTIP)

    def _draw_networks(self) -> None:
        colour = self.palette.curves[0]
        look = {"line_color": colour, "line_width": 1.2, "line_dash": list(FINITE)}
        self.figure.line("x", "y", source=self.finite, **look)
        bars = Whisker(base="x", lower="low", upper="high", source=self.networks)
        bars.line_color, bars.line_width = colour, 1.3
        for head in (bars.upper_head, bars.lower_head):
            head.size, head.line_color = 5, colour
        self.figure.add_layout(bars)
        look = {"size": 7, "line_color": colour, "fill_color": self.palette.ground}
        dots = self.figure.scatter("x", "y", source=self.networks, line_width=1.6, **look)
        self._hover([dots], TOOLTIP.replace("@errors", "@advice").replace("@overlaps", ""))
        self.of_networks = [
            LegendEntry("networks", colour, 0),
            LegendEntry("theory of these networks", colour, 1.2, (4, 2)),
        ]

    def update(self, view: View, answer: dict[str, Any]) -> None:
        """Show an answer."""
        self.view = view
        start, end = view.axis.at(_PADDED).tolist()
        self.figure.x_range.update(start=start, end=end)
        self.limits.data = dict(answer["limits"])
        curves = answer["curves"]
        for curve in curves:
            self.sources[curve["name"], curve["bulk"]].data = curve_columns(view, curve)
        tops = [curve[view.by] for curve in curves]
        if view.by == TEST_ERROR:
            tops += [answer["limits"]["best_linear"], *(c["training_error"] for c in curves)]
        x, advice = (np.concatenate([c[name] for c in curves]) for name in ("x", "advice"))
        failed = advice != ""
        self.failures.data = {
            "x": x[failed],
            "y": np.full(failed.sum(), 0.015),
            "title": [f"No solution at {SYMBOLS[view.x]} = {number_text(v)}" for v in x[failed]],
            "advice": advice[failed].tolist(),
        }
        self.errors = np.concatenate(tops)
        self._scale()

    def _scale(self) -> None:
        """Choose round ends of the axis of errors, so that it keeps still under a moving curve."""
        values = np.concatenate([self.errors, self.networks.data["high"], self.finite.data["y"]])
        seen = values[np.isfinite(values) & (values > 0)]
        if not seen.size:
            return
        top = float(np.nanmax(seen))
        if self.view.y_scale == LOG:
            low, high = math.floor(math.log10(seen.min())), math.log10(top)
            self.y_range.update(start=10.0 ** max(low, high - 8), end=10 ** (high + 0.3))
        else:
            # A peak far above everything else would hide the rest.
            self.y_range.update(start=0, end=round_top(min(top, 10 * float(np.median(seen)))))

    def show_networks(self, measured: dict[str, Any] | None) -> None:
        """Show simulated networks, or none; of their 0-1 error, none."""
        if self.view.by != TEST_ERROR:
            measured = None
        theory = measured["theory"] if measured else {"x": [], "y": []}
        self.finite.data = {"x": theory["x"], "y": theory["y"]}
        if measured is None:
            self.networks.data = {name: [] for name in self.networks.data}
            self.legend = [entry for entry in self.legend if entry not in self.of_networks]
        elif "mean" in measured:
            self.networks.data = network_columns(self.view, measured)
            self.legend += [entry for entry in self.of_networks if entry not in self.legend]
        self._scale()


_COLUMNS = ("error", "training", "title", "errors", "overlaps", "certificate")


def curve_columns(view: View, curve: dict[str, Any]) -> dict[str, Any]:
    """Return what is drawn of a curve, and the texts that appear over its points."""
    symbol = SYMBOLS[view.x]
    name = curve["name"] + ": " if curve["name"] else ""
    ridges = zip(curve["test_error"], curve["training_error"], curve["ridge"], strict=True)
    shown = "" if view.by == TEST_ERROR else f"{ERRORS[view.by]} {{:.4g}}, "
    accuracy = zip(curve["residual"], curve["quadrature_error"], strict=True)
    return {
        "x": curve["x"],
        "error": curve[view.by],
        "training": curve["training_error"],
        "title": [f"{name}{symbol} = {number_text(x)}" for x in curve["x"]],
        "errors": [
            shown.format(error) + f"test {e:.5g}, training {t:.5g}, λ = {r:.3g}"
            for error, (e, t, r) in zip(curve[view.by], ridges, strict=True)
        ],
        "overlaps": overlap_texts(curve),
        "certificate": [f"residual {r:.0e}, quadrature error {q:.0e}" for r, q in accuracy],
    }


def network_columns(view: View, measured: dict[str, Any]) -> dict[str, Any]:
    """Return what is drawn of simulated networks, and the texts that appear over their means."""
    x, mean, stderr, z = (measured[name] for name in ("x", "mean", "stderr", "z"))
    bar = np.nan_to_num(stderr)
    return {
        "x": x,
        "y": mean,
        "low": mean - bar,
        "high": mean + bar,
        "title": [f"Networks at {SYMBOLS[view.x]} = {number_text(value)}" for value in x],
        "advice": [
            f"mean {m:.5g}, standard error {e:.2g}"
            + (f", z = {score:+.2f}" if score == score else "")
            for m, e, score in zip(mean, stderr, z, strict=True)
        ],
        "certificate": [measured["note"]] * mean.size,
    }
