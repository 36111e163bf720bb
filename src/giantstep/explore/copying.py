"""A question in words, as a command, as Python and as a panel of a figure's YAML."""

from __future__ import annotations

import math
import shlex
from typing import Any

import yaml

from giantstep.explore.question import STEPS, Question, written
from giantstep.explore.symbols import SYMBOLS, number_text
from giantstep.explore.view import CURVE, LOG, MAP, SPECTRUM, View
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.formatting import format_number, format_vocabulary
from giantstep.problems.losses import SQUARE
from giantstep.problems.readout import UNIFORM

# Points of a copied range.
_POINTS = 40
# What is left out where it is the library's default.
_DEFAULTS = {"noise": 0.0, "steps": 1, "readout": UNIFORM}


def as_command(view: View) -> str:
    """Write the question as a command line, with the curve's range."""
    question, x = view.question, _x(view)
    words = ["giantstep", "theory" if x in ("alpha", "ridge") else "sweep"]
    values = {name: _argument(value) for name, value in _stated(question).items()}
    values |= {"alpha": format_number(question.alpha), "ridge": written(question.ridge)}
    values[x] = _range(view)
    for name, value in values.items():
        words += ["--" + name.replace("_", "-"), *value.split(" ")]
    if question.loss != SQUARE:
        words += ["--loss", question.loss]
    if question.bulk != (ISOTROPIC,):
        words += ["--bulk", *question.bulk]
    if math.isfinite(question.dimension):
        words += ["--dimension", format_number(question.dimension)]
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
    asked = {"alpha": _python(question.alpha), "ridge": _python(question.ridge), x: along}
    asked |= {"loss": _python(question.loss)} if question.loss != SQUARE else {}
    if question.bulk != (ISOTROPIC,):
        bulks = question.bulk
        asked["bulk"] = _python(bulks[0] if len(bulks) == 1 else list(bulks))
    if math.isfinite(question.dimension):
        asked["dimension"] = _python(question.dimension)
    function = "solve" if x in ("alpha", "ridge") and len(question.bulk) == 1 else "sweep"
    given = ", ".join(f"{k}={v}" for k, v in asked.items())
    head = "import numpy as np\n\nimport giantstep\n\n"
    made = f"problem = giantstep.{make}({arguments})\n"
    return f"{head}{made}answer = giantstep.{function}(problem, {given})\nanswer.test_error\n"


def as_panel(question: Question) -> dict[str, Any]:
    """Return the question as a panel of a figure's YAML."""
    panel = {k: _yaml(v) for k, v in _stated(question).items()}
    if question.ridge == "optimal":
        panel |= {"ridge": 0.1, "optimal": True}
    else:
        panel["ridge"] = _yaml(question.ridge)
    if question.loss != SQUARE:
        panel["loss"] = question.loss
    if question.bulk != (ISOTROPIC,):
        panel["bulk"] = question.bulk[0] if len(question.bulk) == 1 else list(question.bulk)
    return panel


def as_yaml(view: View) -> str:
    """Write the question as a panel of a figure's YAML."""
    text: str = yaml.safe_dump(
        {"panels": {"explored": as_panel(view.question)}}, sort_keys=False, allow_unicode=True
    )
    return text


def title(view: View) -> str:
    """Write the question in one line."""
    question = view.question
    axes = {CURVE: {view.x}, MAP: {view.across, view.up}, SPECTRUM: {"ridge"}}
    hidden = {"activation", "target"} | axes.get(view.tab, set())
    hidden |= {"steps"} if question.steps == 1 else set()
    parts = [
        f"{SYMBOLS[name]} = {number_text(value)}"
        for name, value in {**question.problem_fields, "alpha": question.alpha}.items()
        if name not in hidden and isinstance(value, int | float) and (name, value) != ("noise", 0)
    ]
    if "ridge" not in hidden:
        best = question.ridge == "optimal"
        parts.append("best λ" if best else f"λ = {number_text(float(question.ridge))}")
    if math.isfinite(question.dimension):
        parts.append(f"d = {number_text(question.dimension)}")
    return f"{question.activation} network, {question.target} target: {', '.join(parts)}"


def _x(view: View) -> str:
    return view.x if view.tab == "curve" else "alpha"


def _stated(question: Question) -> dict[str, Any]:
    """Return the fields of the problem without those at the library's defaults."""
    return {
        name: value
        for name, value in question.problem_fields.items()
        if name not in _DEFAULTS or value != _DEFAULTS[name]
    }


def _argument(value: Any) -> str:
    return format_vocabulary(value) if isinstance(value, tuple) else written(value)


def _range(view: View) -> str:
    if view.tab != "curve":
        return format_number(view.question.alpha)
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
