"""The plots of the page, one class for each tab: made once for a view, then updated by answers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from bokeh.models import (
    ColorBar,
    ColumnDataSource,
    FixedTicker,
    HoverTool,
    Legend,
    LegendItem,
    LinearColorMapper,
    Range1d,
    Whisker,
)
from bokeh.palettes import Viridis256
from bokeh.plotting import figure
from contourpy import contour_generator

from giantstep.arrays import Array
from giantstep.explore.palette import DASHES, PALETTES, Palette
from giantstep.explore.symbols import SYMBOLS, axis_label, number_text
from giantstep.explore.theory import OVERLAPS
from giantstep.explore.view import (
    AXES,
    CURVE,
    FUNCTION,
    LOG,
    MAP,
    OVER_LINEAR,
    OVER_NO_STEP,
    SPECTRUM,
    View,
)
from giantstep.figures.labels import BULK_LABELS

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif"
_LEVELS = 8
_TOOLTIP = """<div style="max-width:330px;font:12px/1.45 system-ui,sans-serif;color:#1c2330">
<div style="font-weight:600">@title</div><div>@errors</div>
<div style="color:#4c586b">@overlaps</div><div style="color:#7a8494">@certificate</div></div>"""
_FAILURE = """<div style="max-width:300px;font:12px/1.45 system-ui,sans-serif;color:#8a1c1c">
<div style="font-weight:600">@title</div>@advice</div>"""


class Plot:
    """What the plots of all tabs have in common.

    Attributes
    ----------
    key : tuple
        What the plot was made for; a view with another key needs another plot.
    figure : bokeh figure
    """

    def __init__(self, view: View, theme: str, **options: Any) -> None:
        self.view, self.palette = view, PALETTES[theme]
        self.figure = _empty_figure(self.palette, **options)
        self._items: list[LegendItem] = []

    def update(self, view: View, answer: dict[str, Any]) -> None:
        """Show an answer to a view of the plot's key."""
        raise NotImplementedError

    def _hover(self, renderers: list[Any], tooltips: str, **options: Any) -> None:
        tool = HoverTool(renderers=renderers, tooltips=tooltips, attachment="horizontal", **options)
        self.figure.add_tools(tool)

    def _legend(self, location: str = "top_right") -> None:
        legend = Legend(items=self._items, location=location, click_policy="hide")
        legend.background_fill_color, legend.background_fill_alpha = self.palette.ground, 0.8
        legend.border_line_color = None
        legend.label_text_color, legend.label_text_font = self.palette.text, _FONT
        legend.label_text_font_size, legend.spacing, legend.padding = "12px", 1, 6
        self.figure.add_layout(legend)


def plot_key(view: View, theme: str) -> tuple[Any, ...]:
    """Return what a plot is made for: if it changes, another plot is made."""
    names = tuple((pin.name, pin.question.bulk) for pin in view.pins)
    common = view.tab, theme, view.question.bulk, names
    if view.tab == CURVE:
        return (*common, view.x, view.axis.scale, view.y_scale)
    if view.tab == MAP:
        return (*common, view.across, view.up, view.colour)
    return common


def make_plot(view: View, theme: str) -> Plot:
    """Make the plot of a view, without data."""
    made: Plot = _PLOTS[view.tab](view, theme)
    return made


def _empty_figure(palette: Palette, **options: Any) -> Any:
    plot = figure(
        sizing_mode="stretch_both",
        tools="pan,wheel_zoom,box_zoom,reset",
        toolbar_location="right",
        min_border_left=66,
        min_border_bottom=52,
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        **options,
    )
    plot.toolbar.logo = None
    plot.toolbar.autohide = True
    for axis in plot.axis:
        axis.axis_label_text_font = axis.major_label_text_font = _FONT
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font_size, axis.major_label_text_font_size = "14px", "12px"
        axis.axis_label_text_color = axis.major_label_text_color = palette.text
        axis.axis_line_color = axis.major_tick_line_color = palette.muted
        axis.minor_tick_line_color = None
    for grid in plot.grid:
        grid.grid_line_color = palette.grid
    return plot


class CurvePlot(Plot):
    """Test and training errors along one parameter."""

    def __init__(self, view: View, theme: str) -> None:
        axis = view.axis
        self.y_range = Range1d(0, 1)
        super().__init__(
            view,
            theme,
            x_axis_type=axis.scale,
            y_axis_type=view.y_scale,
            x_range=Range1d(axis.start, axis.stop),
            y_range=self.y_range,
        )
        plot = self.figure
        plot.xaxis.axis_label = axis_label(view.x)
        plot.yaxis.axis_label = "error"
        plot.extra_y_ranges = {"height": Range1d(0, 1)}
        self.limits = ColumnDataSource({"x": [], "best_linear": [], "upper": [], "lower": []})
        self._draw_limits()
        self.sources: dict[tuple[str, str], ColumnDataSource] = {}
        self._draw_curves()
        self.failures = ColumnDataSource({"x": [], "y": [], "title": [], "advice": []})
        self._draw_failures()
        self.networks = ColumnDataSource(
            {key: [] for key in (*"xy", "low", "high", "title", "advice", "certificate")}
        )
        self.finite = ColumnDataSource({"x": [], "y": []})
        self._draw_networks()
        self._legend()

    def _draw_limits(self) -> None:
        colours = self.palette
        for name, label, colour, dash in (
            ("best_linear", "best linear predictor", colours.linear, [6, 4]),
            ("upper", "upper bound (26)", colours.upper, [6, 4]),
            ("lower", "lower bound (27)", colours.lower, [2, 3]),
        ):
            look = {"line_color": colour, "line_dash": dash, "line_width": 1.2, "line_alpha": 0.75}
            drawn = self.figure.line("x", name, source=self.limits, **look)
            self._items.append(LegendItem(label=label, renderers=[drawn]))

    def _draw_curves(self) -> None:
        drawn: list[LegendItem] = []
        touched = []
        for (name, bulk), colour, dash in _looks(self.view, self.palette):
            source = ColumnDataSource({name: [] for name in _CURVE_COLUMNS})
            self.sources[name, bulk] = source
            line = {"source": source, "line_color": colour, "line_dash": dash}
            error = self.figure.line("x", "test", line_width=2.4 if not name else 2, **line)
            training = self.figure.line("x", "training", line_width=1.2, line_alpha=0.65, **line)
            wide = self.figure.line("x", "test", source=source, line_width=16, line_alpha=0)
            touched.append(wide)
            label = _curve_label(name, bulk, self.view)
            drawn.append(LegendItem(label=f"test error{label}", renderers=[error, wide]))
            drawn.append(LegendItem(label=f"training error{label}", renderers=[training]))
        self._items = drawn + self._items
        self._hover(touched, _TOOLTIP, line_policy="nearest")

    def _draw_failures(self) -> None:
        drawn = self.figure.scatter(
            "x",
            "y",
            source=self.failures,
            marker="x",
            size=8,
            line_color=self.palette.upper,
            y_range_name="height",
        )
        self._hover([drawn], _FAILURE)

    def _draw_networks(self) -> None:
        colour = self.palette.curves[0]
        look = {"line_color": colour, "line_width": 1.2, "line_dash": [4, 2]}
        line = self.figure.line("x", "y", source=self.finite, **look)
        bars = Whisker(base="x", lower="low", upper="high", source=self.networks)
        bars.line_color, bars.line_width = colour, 1.3
        for head in (bars.upper_head, bars.lower_head):
            head.size, head.line_color = 5, colour
        self.figure.add_layout(bars)
        dots = self.figure.scatter(
            "x",
            "y",
            source=self.networks,
            size=7,
            line_color=colour,
            fill_color=self.palette.ground,
            line_width=1.6,
        )
        self._hover([dots], _TOOLTIP.replace("@errors", "@advice").replace("@overlaps", ""))
        self.network_items = [
            LegendItem(label="networks", renderers=[dots]),
            LegendItem(label="theory of these networks", renderers=[line]),
        ]

    def update(self, view: View, answer: dict[str, Any]) -> None:
        """Show an answer."""
        axis = view.axis
        self.view = view
        self.figure.x_range.update(start=axis.start, end=axis.stop)
        limits = answer["limits"]
        self.limits.data = {
            "x": limits["x"],
            "best_linear": limits["best_linear"],
            "upper": limits["upper_bound"],
            "lower": limits["lower_bound"],
        }
        failed: dict[str, list[Any]] = {"x": [], "y": [], "title": [], "advice": []}
        tops = [limits["best_linear"]]
        for curve in answer["curves"]:
            self.sources[curve["name"], curve["bulk"]].data = curve_columns(view, curve)
            tops += [curve["test_error"], curve["training_error"]]
            for x, advice in zip(curve["x"], curve["advice"], strict=True):
                if advice:
                    failed["x"].append(x)
                    failed["y"].append(0.015)
                    failed["title"].append(f"No solution at {SYMBOLS[view.x]} = {number_text(x)}")
                    failed["advice"].append(advice)
        self.failures.data = failed
        self._scale(np.concatenate(tops))

    def _scale(self, values: Array) -> None:
        """Choose round ends of the axis of errors, so that it keeps still under a moving curve."""
        seen = values[np.isfinite(values) & (values > 0)]
        if not seen.size:
            return
        top = float(np.nanmax(seen))
        if self.view.y_scale == LOG:
            low, high = math.floor(math.log10(seen.min())), math.log10(top)
            self.y_range.update(start=10.0 ** max(low, high - 8), end=10 ** (high + 0.3))
        else:
            # A peak far above everything else would hide the rest.
            self.y_range.update(start=0, end=round_top(min(top, 6 * float(np.median(seen)))))

    def show_networks(self, found: dict[str, Any] | None) -> None:
        """Show simulated networks, or none."""
        if found is None:
            self.networks.data = {name: [] for name in self.networks.data}
            self.finite.data = {"x": [], "y": []}
            return
        theory = found["theory"]
        self.finite.data = {"x": theory["x"], "y": theory["y"]}
        if "mean" not in found:
            return
        mean, stderr = found["mean"], found["stderr"]
        bar = np.nan_to_num(stderr)
        symbol = SYMBOLS[self.view.x]
        texts = [
            f"mean {m:.5g}, standard error {e:.2g}" + (f", z = {z:+.2f}" if z == z else "")
            for m, e, z in zip(mean, stderr, found["z"], strict=True)
        ]
        self.networks.data = {
            "x": found["x"],
            "y": mean,
            "low": mean - bar,
            "high": mean + bar,
            "title": [f"Networks at {symbol} = {number_text(x)}" for x in found["x"]],
            "advice": texts,
            "certificate": [found["note"]] * mean.size,
        }
        legend = self.figure.legend[0]
        if self.network_items[0] not in legend.items:
            legend.items = [*legend.items, *self.network_items]


_CURVE_COLUMNS = ("x", "test", "training", "title", "errors", "overlaps", "certificate")


def curve_columns(view: View, curve: dict[str, Any]) -> dict[str, Any]:
    """Return what is drawn of a curve, and the texts that appear over its points."""
    symbol = SYMBOLS[view.x]
    name = curve["name"] + ": " if curve["name"] else ""
    ridges = zip(curve["test_error"], curve["training_error"], curve["ridge"], strict=True)
    accuracy = zip(curve["residual"], curve["quadrature_error"], strict=True)
    return {
        "x": curve["x"],
        "test": curve["test_error"],
        "training": curve["training_error"],
        "title": [f"{name}{symbol} = {number_text(x)}" for x in curve["x"]],
        "errors": [f"test {e:.5g}, training {t:.5g}, λ = {r:.3g}" for e, t, r in ridges],
        "overlaps": overlap_texts(curve["overlaps"]),
        "certificate": [f"residual {r:.0e}, quadrature error {q:.0e}" for r, q in accuracy],
    }


def overlap_texts(overlaps: dict[str, Array]) -> list[str]:
    """Write all overlaps of each point in one line; those of several groups after each other."""
    flat = [values.reshape(len(values), -1).tolist() for values in overlaps.values()]
    return [
        "  ".join(
            f"{SYMBOLS[name]} {', '.join(f'{value:.4g}' for value in values[:9])}"
            for name, values in zip(OVERLAPS, row, strict=True)
        )
        for row in zip(*flat, strict=True)
    ]


class FunctionPlot(Plot):
    """The mean output of the trained network along the target."""

    def __init__(self, view: View, theme: str) -> None:
        self.y_range = Range1d(-1.5, 1.5)
        super().__init__(view, theme, x_range=Range1d(-3, 3), y_range=self.y_range)
        self.figure.xaxis.axis_label = "projection on the target θ·x"
        self.figure.yaxis.axis_label = "mean output F(θ·x)"
        self.target = ColumnDataSource({"x": [], "y": []})
        look = {"line_color": self.palette.muted, "line_dash": [2, 3], "line_width": 1.6}
        drawn = self.figure.line("x", "y", source=self.target, **look)
        self.sources: dict[tuple[str, str], ColumnDataSource] = {}
        touched = []
        for (name, bulk), colour, dash in _looks(view, self.palette):
            source = ColumnDataSource(
                {key: [] for key in ("x", "y", "title", "errors", "overlaps", "certificate")}
            )
            self.sources[name, bulk] = source
            line = {"source": source, "line_color": colour, "line_dash": dash, "line_width": 2.2}
            learned = self.figure.line("x", "y", **line)
            touched.append(self.figure.line("x", "y", source=source, line_width=16, line_alpha=0))
            label = _curve_label(name, bulk, view)
            self._items.append(
                LegendItem(label=f"learned function{label}", renderers=[learned, touched[-1]])
            )
        self._items.append(LegendItem(label="target", renderers=[drawn]))
        self._hover(touched, _TOOLTIP, line_policy="nearest")
        self._legend("top_left")

    def update(self, view: View, answer: dict[str, Any]) -> None:
        """Show an answer."""
        self.target.data = dict(answer["target"])
        inside = [self.target.data["y"]]
        for curve in answer["curves"]:
            count = curve["x"].size
            error, residual = curve["test_error"].item(), curve["residual"].item()
            title = [
                f"θ·x = {x:.3g}, F = {y:.4g}" for x, y in zip(curve["x"], curve["y"], strict=True)
            ]
            self.sources[curve["name"], curve["bulk"]].data = {
                "x": curve["x"],
                "y": curve["y"],
                "title": title,
                "errors": [f"test error {error:.5g}"] * count,
                "overlaps": overlap_texts(curve["overlaps"]) * count,
                "certificate": [curve["advice"][0] or f"residual {residual:.0e}"] * count,
            }
            inside.append(curve["y"])
        values = np.concatenate(inside)
        low, high = np.nanmin(values), np.nanmax(values)
        top, bottom = round_top(1.05 * max(high, 0.1)), round_top(1.05 * max(-low, 0.1))
        self.y_range.update(start=-bottom if low < 0 else -0.05 * top, end=top)


class SpectrumPlot(Plot):
    """The density of the eigenvalues of the features' covariance, and those outside its bulk."""

    def __init__(self, view: View, theme: str) -> None:
        self.x_range, self.y_range = Range1d(0.01, 100), Range1d(0, 1)
        ranges = {"x_range": self.x_range, "y_range": self.y_range}
        super().__init__(view, theme, x_axis_type="log", **ranges)
        self.figure.xaxis.axis_label = "eigenvalue x of ΦᵀΦ"
        self.figure.yaxis.axis_label = "density of ln x,  x ρ(x)"
        self.sources: dict[tuple[str, str], ColumnDataSource] = {}
        touched = []
        for (name, bulk), colour, dash in _looks(view, self.palette):
            source = ColumnDataSource({key: [] for key in ("x", "y", "title", "errors")})
            self.sources[name, bulk] = source
            line = {"source": source, "line_color": colour, "line_dash": dash, "line_width": 2}
            drawn = self.figure.line("x", "y", **line)
            area = self.figure.varea(
                x="x", y1=0, y2="y", source=source, fill_color=colour, fill_alpha=0.08
            )
            touched.append(self.figure.line("x", "y", source=source, line_width=16, line_alpha=0))
            label = _curve_label(name, bulk, view)
            self._items.append(
                LegendItem(label=f"bulk{label}", renderers=[drawn, area, touched[-1]])
            )
        short = _TOOLTIP.replace("@overlaps", "").replace("@certificate", "")
        self._hover(touched, short, line_policy="nearest")
        self._legend("top_left")

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
        names = ("image", "x", "y", "width", "height", "advice")
        self.image = ColumnDataSource({name: [] for name in names})
        self.mapper = LinearColorMapper(palette=Viridis256[::-1], nan_color="#9aa3b2")
        drawn = plot.image(
            "image",
            x="x",
            y="y",
            dw="width",
            dh="height",
            source=self.image,
            color_mapper=self.mapper,
        )
        self.lines = ColumnDataSource({"xs": [], "ys": [], "level": []})
        plot.multi_line("xs", "ys", source=self.lines, line_color="white", line_width=1.1)
        self.labels = ColumnDataSource({"x": [], "y": [], "text": []})
        plot.text(
            "x",
            "y",
            "text",
            source=self.labels,
            text_color="white",
            text_font_size="11px",
            text_font=_FONT,
            text_align="center",
            text_baseline="middle",
        )
        self.here = ColumnDataSource({"x": [], "y": []})
        plot.scatter(
            "x",
            "y",
            source=self.here,
            marker="cross",
            size=16,
            line_width=2,
            line_color="#ff5c5c",
        )
        self.bar = ColorBar(color_mapper=self.mapper, width=14, title=_COLOUR_TITLES[view.colour])
        self.bar.background_fill_color = None
        self.bar.title_text_color = self.bar.major_label_text_color = self.palette.text
        self.bar.title_text_font = self.bar.major_label_text_font = _FONT
        self.bar.title_text_font_style = "normal"
        plot.add_layout(self.bar, "right")
        tooltips = f"{SYMBOLS[view.across]} = $x, {SYMBOLS[view.up]} = $y<br><b>@image</b> @advice"
        self._hover([drawn], f'<div style="max-width:280px;color:#1c2330">{tooltips}</div>')

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
            "level": [level for level, _ in drawn],
        }
        long = [(level, line) for level, line in drawn if len(line) > 8]
        middle = [(level, *line[len(line) // 2]) for level, line in long]
        self.labels.data = {
            "x": [place[1] for place in middle],
            "y": [place[2] for place in middle],
            "text": [f"{place[0]:g}" for place in middle],
        }


_COLOUR_TITLES = {
    OVER_LINEAR: "1 − ε/ε(linear)",
    OVER_NO_STEP: "1 − ε/ε(no step)",
    "error": "test error ε",
}


def _looks(view: View, palette: Palette) -> list[tuple[tuple[str, str], str, Any]]:
    """Return colour and dashes of each curve: a colour for each question, dashes for each bulk."""
    whose = [("", view.question), *((pin.name, pin.question) for pin in view.pins)]
    return [
        ((name, bulk), palette.curves[k % len(palette.curves)], list(DASHES[place]))
        for k, (name, question) in enumerate(whose)
        for place, bulk in enumerate(question.bulk)
    ]


def _curve_label(name: str, bulk: str, view: View) -> str:
    """Name a curve in the legend, where there are several."""
    bulks = {b for q in (view.question, *(p.question for p in view.pins)) for b in q.bulk}
    parts = [name] if name else []
    parts += [BULK_LABELS[bulk]] if len(bulks) > 1 else []
    return " · " + ", ".join(parts) if parts else ""


def _cell_edges(values: Array, scale: str) -> tuple[float, float]:
    """Return where the first cell begins and the last one ends."""
    at = np.log(values) if scale == LOG else values
    half = (at[-1] - at[0]) / (2 * (at.size - 1))
    ends = np.array([at[0] - half, at[-1] + half])
    low, high = np.exp(ends) if scale == LOG else ends
    return float(low), float(high)


def round_top(value: float) -> float:
    """Round up to a number that an axis may end at.

    Examples
    --------
    >>> from giantstep.explore.plots import round_top
    >>> round_top(0.63), round_top(3.1)
    (0.7, 3.5)
    """
    if not value > 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    ends = (1, 1.2, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 10)
    return float(f"{power * next(end for end in ends if end * power >= value * 0.999999):.6g}")


def round_levels(low: float, high: float) -> Array:
    """Return about eight round numbers between two."""
    step = (high - low) / _LEVELS
    power = 10.0 ** math.floor(math.log10(step))
    step = power * next(s for s in (1, 2, 2.5, 5, 10) if s * power >= step)
    levels = np.arange(math.ceil(low / step), math.floor(high / step) + 1) * step
    return np.array([float(f"{level:.6g}") for level in levels])


_PLOTS: dict[str, Any] = {
    CURVE: CurvePlot,
    FUNCTION: FunctionPlot,
    SPECTRUM: SpectrumPlot,
    MAP: MapPlot,
}
