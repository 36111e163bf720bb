"""Flags of the command line, made from the fields of problems, grids and sizes.

A field's name, type, default and documentation are all that a flag needs. A new field of such a
class is therefore a flag, without a line here.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, get_args, get_origin, get_type_hints

from giantstep.cli.values import Flattened, read_values, unprotected
from giantstep.numerics.scalar_functions import KNOWN_FUNCTIONS
from giantstep.problems.formatting import format_vocabulary
from giantstep.problems.inputs import KNOWN_INPUTS
from giantstep.problems.losses import KNOWN_LOSSES
from giantstep.problems.spiked_features import MODELS
from giantstep.problems.targets import ALLOWED_TARGETS
from giantstep.validation import read_number, read_whole_number

# What a field that is a name may be.
_ALLOWED = {
    "activation": KNOWN_FUNCTIONS.allowed,
    "target": ALLOWED_TARGETS,
    "inputs": KNOWN_INPUTS.allowed,
    "loss": KNOWN_LOSSES.allowed,
    "model": f"one of {', '.join(MODELS)}",
}
_METAVARS: dict[Any, str] = {float: "NUMBER", int: "COUNT", str: "NAME"}
_NUMBERS: dict[Any, Callable[[str], Any]] = {float: read_number, int: read_whole_number}
_PAIR: Any = tuple[float, float]
# Other names of a flag.
_ALIASES = {"ridge": ("--lambda", "-l"), "networks": ("--replicates",)}


@dataclass(frozen=True)
class Flag:
    """One flag.

    Attributes
    ----------
    name : str
        As in Python: `spike_strength` is the flag `--spike-strength`.
    hint : type
        `bool`, for a flag without a value; `str`, `float` or `int`; one of these or a `Literal` of
        words; a pair of floats, written `value:fraction`; or a tuple of any number of such values.
    default : object
        None for a flag that must be given.
    text : str
        The help.
    """

    name: str
    hint: Any
    default: Any
    text: str

    def add_to(self, parser: Any, required: bool | None = None, several: bool = False) -> None:
        """Add the flag to a parser or to one of its groups.

        Parameters
        ----------
        parser : argparse.ArgumentParser
        required : bool, optional
            By default whether it has no default.
        several : bool
            Whether it takes several values where the field has one. The argument is a list then.
        """
        options: dict[str, Any] = {"help": self._help(), "default": self.default, "dest": self.name}
        if self.hint is bool:
            options["action"] = "store_true"
        else:
            options["required"] = self.default is None if required is None else required
            one = get_args(self.hint)[0] if get_origin(self.hint) is tuple else self.hint
            options |= {"type": _reader(one), "metavar": _metavar(one)}
            if one != self.hint or several:
                options |= {"type": _reader_of_several(one), "nargs": "+", "action": Flattened}
            if several and one == self.hint and self.default is not None:
                options["default"] = [self.default]
        parser.add_argument(spelled(self.name), *_ALIASES.get(self.name, ()), **options)

    def alternatives(self, arguments: argparse.Namespace) -> tuple[Any, ...]:
        """Return the values of the field that were given; a vocabulary is a single one."""
        value = getattr(arguments, self.name)
        if get_origin(self.hint) is tuple:
            return (tuple(value),) if value is not None else (None,)
        return tuple(value) if isinstance(value, list) else (value,)

    def _help(self) -> str:
        text = self.text
        if self.name in _ALLOWED:
            text += f": {_ALLOWED[self.name]}"
        if self.default is not None and self.hint is not bool:
            text += f" (default {_written(self.default)})"
        return text.replace("%", "%%")


def flags_of(make: Callable[..., Any], documented: object = None) -> dict[str, Flag]:
    """Make a flag of each field of a dataclass, or each parameter of a function, by name.

    Parameters
    ----------
    make : callable
        The dataclass or function.
    documented : object, optional
        What has the docstring, if not `make`.
    """
    hints, texts = get_type_hints(make), dict(_documentation(documented or make))
    return {
        name: Flag(
            name,
            hints[name],
            None if parameter.default is parameter.empty else parameter.default,
            texts.get(name, ""),
        )
        for name, parameter in inspect.signature(make).parameters.items()
    }


def spelled(name: str) -> str:
    """Spell a field as a flag."""
    return "--" + name.replace("_", "-")


def _documentation(documented: object) -> Iterator[tuple[str, str]]:
    """Yield each name of a numpydoc list, and the first sentence on it, as a help text."""
    lists = re.split(r"\n\w+\n-+\n", inspect.getdoc(documented) or "")[1:2]
    for entry in re.split(r"\n(?=\S)", "".join(lists)):
        names, *lines = entry.split("\n")
        text = " ".join(line.strip() for line in lines).strip()
        text = re.sub(r"`(\w+)`", lambda field: spelled(field[1]), text)
        sentence = re.split(r"(?<=\S)\.(?: |$)", text)[0]
        for name in names.partition(" : ")[0].split(", "):
            yield name, sentence[:1].lower() + sentence[1:]


def _metavar(hint: Any) -> str:
    if hint == _PAIR:
        return "VALUE:FRACTION"
    return _METAVARS.get(hint) or _METAVARS[get_args(hint)[0]]


def _reader(hint: Any) -> Callable[[str], Any]:
    """Return what reads one value of a type from a text, as argparse calls it."""
    if hint == _PAIR:
        return _pair
    if hint is str:
        return str
    if hint in _NUMBERS:
        return lambda text: _only(_reader_of_several(hint)(text), text)
    plain, literal = get_args(hint)
    words = get_args(literal)

    def read(text: str) -> Any:
        if text in words:
            return text
        try:
            return _NUMBERS[plain](unprotected(text))
        except ValueError:
            allowed = f"{_METAVARS[plain]} or {' or '.join(words)}"
            raise argparse.ArgumentTypeError(f"{text!r} must be {allowed}") from None

    return read


def _only(values: list[Any], text: str) -> Any:
    """Return the one value of what is no range."""
    if len(values) > 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be one number, and no range")
    return values[0]


def _reader_of_several(hint: Any) -> Callable[[str], list[Any]]:
    """Return what reads one text as a list: of a number, of those of a range, or of a name."""
    if hint in _NUMBERS:
        return read_values(_NUMBERS[hint])
    one = _reader(hint)

    def read(text: str) -> list[Any]:
        words = get_args(get_args(hint)[1]) if get_args(hint) and hint != _PAIR else ()
        if words and text not in words and ":" in text:
            return read_values(_NUMBERS[get_args(hint)[0]])(text)
        return [one(text)]

    return read


def _pair(text: str) -> tuple[float, float]:
    """Read one `value:fraction`."""
    text = unprotected(text)
    value, _, fraction = text.partition(":")
    try:
        return read_number(value), read_number(fraction)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form value:fraction") from None


def _written(default: Any) -> str:
    if isinstance(default, tuple):
        pairs = isinstance(default[0], tuple)
        return format_vocabulary(default) if pairs else " ".join(map(_written, default))
    return default if isinstance(default, str) else f"{default:g}"
