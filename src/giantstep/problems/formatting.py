"""Parameters written as people write them: in labels, names of files and arguments."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import fields
from typing import Any

from giantstep.problems.readout import NORMAL
from giantstep.problems.schedules import OnePerStep


def format_number(value: float) -> str:
    """Write a number as briefly as identifies it: 1, 0.5, inf."""
    return str(int(value)) if math.isfinite(value) and value == int(value) else repr(value)


def format_value(value: Any, between: str = " ") -> str:
    """Write the value of any parameter as the command line reads it, such as `0.5:0.3 2:0.7`."""
    value = tuple(value.items()) if isinstance(value, dict) else value
    if isinstance(value, tuple | list):
        between = "/" if isinstance(value, OnePerStep) else between
        return "normal" if value == NORMAL else between.join(format_value(x, ":") for x in value)
    if isinstance(value, bool):
        return str(value).lower()
    return format_number(value) if isinstance(value, int | float) else str(value)


def written(value: Any) -> Any:
    """Write several values, as of neurons or steps, as one text; leave a single one as it is."""
    return format_value(value) if isinstance(value, tuple | list | dict) else value


def format_problem(problem: Any) -> str:
    """Write a problem, which is a dataclass, as one makes it, without what is at its default.

    Examples
    --------
    >>> from giantstep.problems.protocol import Protocol
    >>> format_problem(Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1))
    "Protocol(activation='tanh', target='sin', learning_rate=3, alpha0=20, beta=1)"
    """
    values = ((of, single(getattr(problem, of.name))) for of in fields(problem))
    stated = (f"{of.name}={_as_python(x)}" for of, x in values if x != of.default)
    return f"{type(problem).__name__}({', '.join(stated)})"


def _as_python(value: Any) -> str:
    """Write a value as Python reads it."""
    if isinstance(value, float):
        return format_number(value)
    return repr(format_value(value) if value == NORMAL or isinstance(value, OnePerStep) else value)


def stated_parameters(text: str) -> dict[str, Any]:
    """Read the parameters that `format_problem` has written.

    Examples
    --------
    >>> stated_parameters("Protocol(activation='tanh', alpha0=inf)")
    {'activation': 'tanh', 'alpha0': inf}
    """
    call = ast.parse(re.sub(r"\binf\b", "1e999", text), mode="eval").body
    assert isinstance(call, ast.Call)
    return {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}


def single(value: Any) -> Any:
    """Return the number of a single group of neurons, and everything else unchanged."""
    single = isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], float)
    return value[0] if single else value
