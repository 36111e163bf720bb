"""Drawings of views that the pipeline has no figure for, in the style of its figures."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giantstep.explore.tasks import Answer
from giantstep.explore.view import ERROR, FUNCTION, MAP, OVER_LINEAR, OVER_NO_STEP, SPECTRUM, View
from giantstep.figures import style
from giantstep.figures.elements import legend_beside
from giantstep.figures.labels import BULK_LABELS
from giantstep.figures.maps import level_lines
from giantstep.vocabulary import MEANINGS


def draw_answer(view: View, answer: Answer) -> Figure:
    """Draw a learned function, a spectrum or a map, from the answer to its view."""
    figure = Figure(figsize=style.size(columns=1))
    _DRAWINGS[view.tab](figure.add_subplot(), view, answer)
    return figure


def _function(axes: Axes, view: View, answer: Answer) -> None:
    target = answer["target"]
    axes.plot(target["x"], target["y"], label="target", **style.TARGET)
    _draw_curves(axes, answer, lambda curve: curve["y"])
    axes.set_xlabel(r"projection on the target $\theta \cdot x$")
    axes.set_ylabel(r"mean output $F(\theta \cdot x)$")


def _spectrum(axes: Axes, view: View, answer: Answer) -> None:
    _draw_curves(axes, answer, lambda curve: curve["x"] * curve["density"])
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel(r"eigenvalue $x$ of $\Phi^\top\Phi$")
    axes.set_ylabel(r"density of $\ln x$, $x\,\rho(x)$")


def _draw_curves(axes: Axes, answer: Answer, y_of: Any) -> None:
    """Draw a colour for each question, a line style for each bulk."""
    names = list(dict.fromkeys(curve["name"] for curve in answer["curves"]))
    lines = style.bulk_lines(curve["bulk"] for curve in answer["curves"])
    for curve in answer["curves"]:
        parts = [curve["name"] or "this question"] if len(names) > 1 else []
        parts += [BULK_LABELS[curve["bulk"]]] if len(lines) > 1 else []
        axes.plot(
            curve["x"],
            y_of(curve),
            color=style.COLOURS[names.index(curve["name"]) % len(style.COLOURS)],
            linestyle=lines[curve["bulk"]],
            label=", ".join(parts) or "theory",
        )
    legend_beside(axes)


def _map(axes: Axes, view: View, answer: Answer) -> None:
    gain = view.colour != ERROR
    level_lines(axes, answer["x"], answer["y"], answer["values"], percent=gain)
    if gain:
        axes.set_title(f"gain over the {_GAINS[view.colour]}", loc="left")
    for name, setting in (("x", view.across), ("y", view.up)):
        meaning = MEANINGS[setting]
        axes.set(**{f"{name}label": f"{meaning.long_name} ${meaning.symbol}$"})


_GAINS = {OVER_LINEAR: "best linear predictor", OVER_NO_STEP: "network without a step"}
_DRAWINGS = {FUNCTION: _function, SPECTRUM: _spectrum, MAP: _map}
