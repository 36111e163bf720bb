"""Numbers of the command line, one or several: `0.5`, `0.5:3:20`, `0.1:10:30log`."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable
from functools import wraps
from typing import Any

from giantstep.validation import Interval, read_number, read_whole_number

# How ranges are written, for help texts.
RANGES = (
    "A flag that takes several values also takes ranges: 0.5:3:20 is 20 numbers from 0.5 to 3, and"
    " 0.1:10:30log is 30 in equal ratios. All combinations are computed."
)
_LENGTH = Interval(2, 100_000, whole=True)
_RANGE = re.compile(r"([^:]+):([^:]+):([^:]+?)(log)?")


def reader(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return what reads a text as argparse calls it, from what raises ValueError to refuse one."""

    @wraps(read)
    def checked(text: str) -> Any:
        try:
            # Without the blank of `protected`.
            return read(text[1:] if re.match(r" +-", text) else text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return checked


@reader
def numbers(text: str) -> list[float]:
    """Read a number, or a range of them.

    Examples
    --------
    >>> numbers("0.5:2:4")
    [0.5, 1.0, 1.5, 2.0]
    """
    return list(_spaced(text)) if ":" in text else [read_number(text)]


@reader
def whole_numbers(text: str) -> list[int]:
    """Read a whole number, or a range of them.

    Examples
    --------
    >>> whole_numbers("10:1000:3log")
    [10, 100, 1000]
    """
    several = ":" in text
    return [*dict.fromkeys(map(round, _spaced(text)))] if several else [read_whole_number(text)]


def _spaced(text: str) -> tuple[float, ...]:
    """Return the numbers of a range.

    Raises
    ------
    ValueError
    """
    from giantstep.problems.grid import spaced_axis  # only here: it takes a while to import

    if found := _RANGE.fullmatch(text):
        ends, length = [read_number(end) for end in found.group(1, 2)], read_whole_number(found[3])
        scale, least = ("log", 0.0) if found[4] else ("even", -math.inf)
        if length in _LENGTH and all(least < end < math.inf for end in ends):
            return spaced_axis(ends[0], ends[1], length, scale)
    form = "a range start:stop:count, such as 0.5:3:20: both ends finite, and > 0 for equal ratios"
    raise ValueError(f"{text!r} must be {form}; the count is {_LENGTH}")


@reader
def pairs(text: str) -> list[tuple[float, float]]:
    """Read `value:fraction`, or values of equal shares: `1,-1`, or in short `±1`.

    Examples
    --------
    >>> pairs("2:0.5"), pairs("±1")
    ([(2.0, 0.5)], [(1.0, 0.5), (-1.0, 0.5)])
    """
    values = re.sub(r"^(?:±|\+-|\+/-)(.+)$", r"\1,-\1", text).split(",")
    try:
        if len(values) > 1:
            return [(read_number(value), 1 / len(values)) for value in values]
        value, _, fraction = text.partition(":")
        return [(read_number(value), read_number(fraction))]
    except ValueError:
        form = "VALUE:FRACTION such as 1:0.5, or values of equal shares such as 1,-1"
        raise ValueError(f"{text!r} must be {form}") from None


@reader
def named_values(text: str) -> tuple[str, list[float]]:
    """Read the axis of a map, `alpha0=0.1:10:80log`: a parameter and its values."""
    name, _, words = text.partition("=")
    values = [x for word in words.split(",") for x in numbers(word)] if words else []
    if len(values) < 2:
        raise ValueError(f"{text!r} must be a parameter and several values, as in alpha=0.5:3:20")
    return name.replace("-", "_"), values


def protected(argument: str) -> str:
    """Keep argparse from reading -1e-3 or -1:0.5 as a flag, by a leading blank."""
    return f" {argument}" if re.match(r" *-(\d|\.\d|inf|nan)", argument) else argument


class Flattened(argparse.Action):
    """Store the values of a flag, those of ranges among them, in one list."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        """Store the values."""
        setattr(namespace, self.dest, [value for some in values for value in some])
