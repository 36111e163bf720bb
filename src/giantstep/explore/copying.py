"""A question in words, as a command, as Python and as a panel of a figure's YAML."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Any

import yaml

from giantstep.explore.parameters import LOG, PARAMETERS, SYMBOLS, Axis, number_text
from giantstep.explore.question import Question
from giantstep.explore.view import CURVE, FUNCTION, MAP, SPECTRUM, View, axis_values
from giantstep.problems.formatting import format_number, format_problem, format_value
from giantstep.questions.arguments import OPTIMAL
from giantstep.questions.choices import GAINS
from giantstep.theory.optima import TEST_ERROR
from giantstep.validation import whole_number

# Points of a copied range.
_POINTS = 41


def request_of(view: View, question: Question) -> tuple[str, dict[str, Any]]:
    """Return what the library is asked for what is shown of a question: its name and arguments."""
    values = {"alpha": question["alpha"], "ridge": question["ridge"]} | _unusual(question)
    if view.tab == FUNCTION:
        return "learned_function", values
    if view.tab == SPECTRUM:
        return "spectrum", {k: x for k, x in values.items() if k not in ("ridge", "loss")}
    if view.tab == MAP:
        if "bulk" in values:
            values["bulk"] = question["bulk"][0]
        values |= {"gains": view.variable} if view.variable in GAINS else {}
        return "sweep", values | view.axes
    values |= view.axes
    if view.by != TEST_ERROR and question["ridge"] == OPTIMAL and view.x != "ridge":
        values["by"] = view.by
    return "solve" if view.x in ("alpha", "ridge") else "sweep", values


def as_command(view: View) -> str:
    """Write the question as a command line."""
    function, values = request_of(view, view.question)
    words = ["giantstep", "theory" if function == "solve" else function.replace("_", "-")]
    for name, value in (_stated(view.question) | values).items():
        words += ["--" + name.replace("_", "-"), *_text(value).split(" ")]
    return shlex.join(words)


def as_python(view: View) -> str:
    """Write the question as Python."""
    function, given = request_of(view, view.question)
    problem = format_problem(view.question.problem).replace("=inf", "=np.inf")
    arguments = ", ".join(f"{name}={_python(value)}" for name, value in given.items())
    return (
        "import numpy as np\n\nimport giantstep\n\n"
        f"problem = giantstep.{problem}\n"
        f"answer = giantstep.{function}(problem, {arguments})\nanswer.{view.variable}\n"
    )


def as_panel(view: View, question: Question) -> dict[str, Any]:
    """Return a question, along x, as a panel of a figure's YAML, without its dimension."""
    panel = _stated(question) | {"ridge": question["ridge"]} | _unusual(question)
    if question["ridge"] == OPTIMAL:
        panel |= {"ridge": 0.1, "optimal": True}
    panel = {name: _yaml(value) for name, value in panel.items() if name != "dimension"}
    along = {} if view.x == "alpha" else {view.x: listed(axis_values(view.axis, _POINTS))}
    return panel | along


def as_yaml(view: View) -> str:
    """Write the question as a panel of a figure's YAML; empty but for curves."""
    panels = {"panels": {"explored": as_panel(view, view.question)}}
    return yaml.safe_dump(panels, sort_keys=False, allow_unicode=True) if view.tab == CURVE else ""


def listed(values: Iterable[float]) -> list[float]:
    """Return numbers as a panel lists them: each once, of six digits."""
    return [_yaml(number) for number in dict.fromkeys(float(f"{value:.6g}") for value in values)]


def title(view: View) -> str:
    """Write the question in one line."""
    question = view.question
    hidden = {*view.axes, *["ridge"] * (view.tab == SPECTRUM)}
    values = _stated(question) | _without_defaults(question, ["dimension"])
    values |= {name: question[name] for name in ("alpha", "ridge")}
    parts = [
        "best λ" if value == OPTIMAL else f"{SYMBOLS[name]} = {number_text(value)}"
        for name, value in values.items()
        if name not in hidden and (isinstance(value, int | float) or value == OPTIMAL)
    ]
    return f"{question['activation']} network, {question['target']} target: {', '.join(parts)}"


def _stated(question: Question) -> dict[str, Any]:
    """Return the values of the problem without those at the library's defaults."""
    return _without_defaults(question, question.problem_fields)


def _without_defaults(question: Question, names: Iterable[str]) -> dict[str, Any]:
    return {name: question[name] for name in names if question[name] != PARAMETERS[name].default}


def _unusual(question: Question) -> dict[str, Any]:
    """Return what the theory is asked for, besides alpha and ridge, that is no default.

    Several bulks are a list.
    """
    unusual = _without_defaults(question, filter(question.has, ("loss", "bulk", "dimension")))
    if bulks := unusual.pop("bulk", ()):
        unusual["bulk"] = bulks[0] if len(bulks) == 1 else list(bulks)
    return unusual


def _text(value: Any) -> str:
    if isinstance(value, Axis):
        start, stop = format_number(value.start), format_number(value.stop)
        return f"{start}:{stop}:{_POINTS}{'log' * (value.scale == LOG)}"
    return format_value(value)


def _python(value: Any) -> str:
    if isinstance(value, Axis):
        ends = f"{format_number(value.start)}, {format_number(value.stop)}"
        if value.domain.whole:
            return f"np.arange({ends} + 1)"
        return f"np.{'geomspace' if value.scale == LOG else 'linspace'}({ends}, {_POINTS})"
    return repr(whole_number(value))


def _yaml(value: Any) -> Any:
    if isinstance(value, tuple):
        return {_yaml(letter): _yaml(share) for letter, share in value}
    return whole_number(value)
