"""Flags of the command line, made from the arguments that questions and problems declare."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

from giantstep.cli.values import Flattened, numbers, pairs, whole_numbers
from giantstep.problems.domains import interval_of
from giantstep.problems.formatting import format_value
from giantstep.problems.schedules import BETWEEN, Schedule
from giantstep.questions.arguments import ANY_NAME, PAIR, Argument, Many

# How a value of each kind is called in help texts, and what reads it, or a range of such values.
_KINDS: dict[Any, tuple[str, Callable[[str], list[Any]]]] = {
    float: ("NUMBER", numbers),
    int: ("COUNT", whole_numbers),
    str: ("NAME", lambda text: [text]),
    PAIR: ("VALUE:FRACTION", pairs),
}
# Other names of a flag.
_ALIASES = {"ridge": ("--lambda", "-l"), "networks": ("--replicates",)}


def spelled(name: str) -> str:
    """Spell a field as a flag."""
    return "--" + name.replace("_", "-")


def add_flag(parser: Any, of: Argument, hidden: bool = False) -> None:
    """Add the flag of an argument to a parser or to one of its groups; hidden, help lacks it.

    Parsed arguments have those that are given; they are lists, if several values can be.
    """
    options: dict[str, Any] = {"default": argparse.SUPPRESS, "dest": of.name}
    options["help"] = argparse.SUPPRESS if hidden else _help(of)
    if of.kind is bool:
        options["action"] = argparse.BooleanOptionalAction if of.default else "store_true"
    else:
        several = of.many is not Many.REFUSED
        read = partial(_read if several else _read_one, of)
        options |= {"metavar": _KINDS[of.kind][0], "type": read}
        options |= {"nargs": "+", "action": Flattened} if several else {}
    parser.add_argument(spelled(of.name), *_ALIASES.get(of.name, ()), **options)


def _read(of: Argument, text: str) -> list[Any]:
    """Read one text as a list: of a number, of those of a range, or of a name."""
    if text in of.words or (isinstance(of.domain, Schedule) and BETWEEN in text):
        return [text]
    try:
        return _KINDS[of.kind][1](text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(" or ".join([str(error), *of.words])) from None


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
