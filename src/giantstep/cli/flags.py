"""Flags of the command line, made from the arguments that questions and problems declare."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from giantstep.cli.values import Flattened, pair, read_values
from giantstep.problems.domains import interval_of
from giantstep.problems.formatting import format_value
from giantstep.questions.arguments import ANY_NAME, PAIR, Argument, Many
from giantstep.validation import read_number, read_whole_number

# How a value of each kind is called in help texts, and what reads it, or a range of such values.
_METAVARS: dict[Any, str] = {float: "NUMBER", int: "COUNT", str: "NAME", PAIR: "VALUE:FRACTION"}
_READERS: dict[Any, Callable[[str], list[Any]]] = {
    float: read_values(read_number),
    int: read_values(read_whole_number),
    str: lambda text: [text],
    PAIR: lambda text: [pair(text)],
}
# Other names of a flag.
_ALIASES = {"ridge": ("--lambda", "-l"), "networks": ("--replicates",)}


def spelled(name: str) -> str:
    """Spell a field as a flag."""
    return "--" + name.replace("_", "-")


def add_flag(parser: Any, of: Argument) -> None:
    """Add the flag of an argument to a parser or to one of its groups.

    If several values can be given, the parsed argument is a list.
    """
    options: dict[str, Any] = {"help": _help(of), "default": of.default, "dest": of.name}
    if of.kind is bool:
        options["action"] = argparse.BooleanOptionalAction if of.default else "store_true"
    else:
        options |= {"metavar": _METAVARS[of.kind], "type": lambda text: _read_one(of, text)}
        if of.many is not Many.REFUSED:
            several = {"type": lambda text: _read(of, text), "nargs": "+", "action": Flattened}
            options |= several
            if of.default is not None and not isinstance(of.default, tuple):
                options["default"] = [of.default]
    parser.add_argument(spelled(of.name), *_ALIASES.get(of.name, ()), **options)


def alternatives(of: Argument, arguments: argparse.Namespace) -> tuple[Any, ...]:
    """Return the values of an argument that were given; a sequence is a single one."""
    value = getattr(arguments, of.name)
    if of.is_sequence:
        return (tuple(value),) if value is not None else (None,)
    return tuple(value) if isinstance(value, list) else (value,)


def _read(of: Argument, text: str) -> list[Any]:
    """Read one text as a list: of a number, of those of a range, or of a name."""
    if text in of.words:
        return [text]
    try:
        return _READERS[of.kind](text)
    except argparse.ArgumentTypeError:
        if not of.words or ":" in text:
            raise
        allowed = " or ".join([_METAVARS[of.kind], *of.words])
        raise argparse.ArgumentTypeError(f"{text!r} must be {allowed}") from None


def _read_one(of: Argument, text: str) -> Any:
    values = _read(of, text)
    if len(values) > 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be one number, and no range")
    return values[0]


def _help(of: Argument) -> str:
    text = of.text
    if of.kind is not bool and of.domain is not ANY_NAME:
        text += f": {interval_of(of.domain) or of.domain}"
    if words := [word for word in of.words if word not in text]:
        text += f", or {', '.join(words)}"
    if of.note:
        text += f"; {of.note}"
    if of.default not in (None, ()) and of.kind is not bool:
        text += f" (default {format_value(of.default)})"
    return text.replace("%", "%%")
