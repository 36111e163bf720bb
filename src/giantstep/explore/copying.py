"""A question in words, as a command, as Python and as a panel of a figure's YAML."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable
from typing import Any

import yaml

from giantstep.explore.parameters import LOG, OPTIMAL, PARAMETERS, STEPS, SYMBOLS, number_text
from giantstep.explore.question import Question, written
from giantstep.explore.view import CURVE, MAP, SPECTRUM, View
from giantstep.problems.formatting import format_number, format_vocabulary

# Points of a copied range.
_POINTS = 40


def as_command(view: View) -> str:
    """Write the question as a command line, with the curve's range."""
    question, x = view.question, _x(view)
    words = ["giantstep", "theory" if _is_solved(view) else "sweep"]
    values = {name: _argument(value) for name, value in _stated(question).items()}
    values |= {"alpha": format_number(question["alpha"]), "ridge": written(question["ridge"])}
    values[x] = _range(view)
    values |= {name: _argument(value) for name, value in _unusual(question).items()}
    for name, value in values.items():
        words += ["--" + name.replace("_", "-"), *value.split(" ")]
    return shlex.join(words)


def as_python(view: View) -> str:
    """Write the question as Python."""
    question, x = view.question, _x(view)
    axis = view.axis
    space = "np.geomspace" if axis.scale == LOG else "np.linspace"
    along = f"{space}({format_number(axis.start)}, {format_number(axis.stop)}, {_POINTS})"
    if axis.domain.whole:
        along = f"range({math.ceil(axis.start)}, {math.floor(axis.stop) + 1})"
    make = "Protocol" if question.model == STEPS else "one_spike"
    arguments = ", ".join(f"{k}={_python(v)}" for k, v in _stated(question).items())
    values = {"alpha": question["alpha"], "ridge": question["ridge"]} | _unusual(question)
    given = {name: _python(value) for name, value in values.items()} | {x: along}
    function = "solve" if _is_solved(view) else "sweep"
    call = ", ".join(f"{k}={v}" for k, v in given.items())
    head = "import numpy as np\n\nimport giantstep\n\n"
    made = f"problem = giantstep.{make}({arguments})\n"
    return f"{head}{made}answer = giantstep.{function}(problem, {call})\nanswer.test_error\n"


def as_panel(question: Question) -> dict[str, Any]:
    """Return the question as a panel of a figure's YAML, without its dimension."""
    panel = _stated(question) | {"ridge": question["ridge"]} | _unusual(question)
    if question["ridge"] == OPTIMAL:
        panel |= {"ridge": 0.1, "optimal": True}
    return {name: _yaml(value) for name, value in panel.items() if name != "dimension"}


def as_yaml(view: View) -> str:
    """Write the question as a panel of a figure's YAML."""
    panels = {"panels": {"explored": as_panel(view.question)}}
    return str(yaml.safe_dump(panels, sort_keys=False, allow_unicode=True))


def title(view: View) -> str:
    """Write the question in one line."""
    question = view.question
    axes = {CURVE: {view.x}, MAP: {view.across, view.up}, SPECTRUM: {"ridge"}}
    hidden = {"activation", "target"} | axes.get(view.tab, set())
    values = _stated(question) | {"alpha": question["alpha"]}
    parts = [
        f"{SYMBOLS[name]} = {number_text(value)}"
        for name, value in values.items()
        if name not in hidden and isinstance(value, int | float)
    ]
    if "ridge" not in hidden:
        best = question["ridge"] == OPTIMAL
        parts.append("best λ" if best else f"λ = {number_text(question['ridge'])}")
    if math.isfinite(question["dimension"]):
        parts.append(f"d = {number_text(question['dimension'])}")
    return f"{question['activation']} network, {question['target']} target: {', '.join(parts)}"


def _is_solved(view: View) -> bool:
    """Check whether the question `solve` covers a view; `sweep` covers all."""
    return _x(view) in ("alpha", "ridge") and len(view.question["bulk"]) == 1


def _x(view: View) -> str:
    return view.x if view.tab == CURVE else "alpha"


def _stated(question: Question) -> dict[str, Any]:
    """Return the values of the problem without those at the library's defaults."""
    return _without_defaults(question, question.problem_fields)


def _without_defaults(question: Question, names: Iterable[str]) -> dict[str, Any]:
    return {name: question[name] for name in names if question[name] != PARAMETERS[name].default}


def _unusual(question: Question) -> dict[str, Any]:
    """Return what the theory is asked for, besides alpha and ridge, that is no default.

    Several bulks are a list.
    """
    unusual = _without_defaults(question, ("loss", "bulk", "dimension"))
    if "bulk" in unusual:
        bulks = unusual["bulk"]
        unusual["bulk"] = bulks[0] if len(bulks) == 1 else list(bulks)
    return unusual


def _argument(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(value)
    return format_vocabulary(value) if isinstance(value, tuple) else written(value)


def _range(view: View) -> str:
    if view.tab != CURVE:
        return format_number(view.question["alpha"])
    axis = view.axis
    points = _POINTS
    if axis.domain.whole:
        points = math.floor(axis.stop) - math.ceil(axis.start) + 1
    ends = f"{format_number(axis.start)}:{format_number(axis.stop)}"
    return f"{ends}:{points}{'log' if axis.scale == LOG else ''}"


def _python(value: Any) -> str:
    if isinstance(value, float):
        return 'float("inf")' if math.isinf(value) else format_number(value)
    return repr(value).replace("'", '"')


def _yaml(value: Any) -> Any:
    if isinstance(value, tuple):
        return {_yaml(letter): _yaml(share) for letter, share in value}
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
