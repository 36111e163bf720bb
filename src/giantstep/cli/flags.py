"""Flags of the command line, made from fields of dataclasses and parameters of functions.

A name, a type, a default and a documentation are all that a flag needs. A new field of a problem
and a new parameter of a question are therefore flags, without a line here.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args, get_origin, get_type_hints

from numpy.typing import ArrayLike

import giantstep
from giantstep.cli.values import Flattened, pair, read_values
from giantstep.problems.formatting import format_value
from giantstep.problems.grid import Grid
from giantstep.problems.parameter import parameters_of
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import one_spike_parameters
from giantstep.questions.task import question_named
from giantstep.validation import read_number, read_whole_number
from giantstep.vocabulary import MEANINGS

# What parameters mean, and what they may be, by their names.
_PARAMETERS = parameters_of(Grid) | one_spike_parameters() | parameters_of(Protocol)
_PAIR: Any = tuple[float, float]
# The alternatives of `ArrayLike`, or itself where NumPy made it an alias that unions do not expand.
_NUMBERS = set(get_args(ArrayLike)) or {ArrayLike}
# How a value of each kind is called in help texts, and what reads it, or a range of such values.
_METAVARS: dict[Any, str] = {float: "NUMBER", int: "COUNT", str: "NAME", _PAIR: "VALUE:FRACTION"}
_READERS: dict[Any, Callable[[str], list[Any]]] = {
    float: read_values(read_number),
    int: read_values(read_whole_number),
    str: lambda text: [text],
    _PAIR: lambda text: [pair(text)],
}
# Of networks, where the question leaves it open.
SIMULATED_DIMENSION = 500
# Other names of a flag.
_ALIASES = {"ridge": ("--lambda", "-l"), "networks": ("--replicates",)}


@dataclass(frozen=True)
class Flag:
    """One flag.

    Attributes
    ----------
    name : str
        As in Python: `spike_strength` is the flag `--spike-strength`.
    kind : type
        Of one value: `bool`, for a flag without a value; `str`, `float` or `int`; or a pair of
        floats, written `value:fraction`.
    default : object
        None for a flag that must be given.
    text : str
        The help.
    words : tuple of str
        What may stand in place of a number, such as "optimal".
    is_sequence : bool
        Whether its value is a sequence: a readout, or numbers that a question takes at once.
    takes_several : bool
        Whether several values can be given, each a question of its own. The argument is a list.
    """

    name: str
    kind: Any
    default: Any
    text: str
    words: tuple[str, ...] = ()
    is_sequence: bool = False
    takes_several: bool = False

    def add_to(self, parser: Any) -> None:
        """Add the flag to a parser or to one of its groups."""
        options: dict[str, Any] = {"help": self._help(), "default": self.default, "dest": self.name}
        if self.kind is bool:
            options["action"] = argparse.BooleanOptionalAction if self.default else "store_true"
        else:
            options |= {"metavar": _METAVARS[self.kind], "type": self._read_one}
            if self.takes_several or self.is_sequence:
                options |= {"type": self._read, "nargs": "+", "action": Flattened}
                if self.default is not None and not isinstance(self.default, tuple):
                    options["default"] = [self.default]
        parser.add_argument(spelled(self.name), *_ALIASES.get(self.name, ()), **options)

    def alternatives(self, arguments: argparse.Namespace) -> tuple[Any, ...]:
        """Return the values of the argument that were given; a sequence is a single one."""
        value = getattr(arguments, self.name)
        if self.is_sequence:
            return (tuple(value),) if value is not None else (None,)
        return tuple(value) if isinstance(value, list) else (value,)

    def _read(self, text: str) -> list[Any]:
        """Read one text as a list: of a number, of those of a range, or of a name."""
        if text in self.words:
            return [text]
        try:
            return _READERS[self.kind](text)
        except argparse.ArgumentTypeError:
            if not self.words or ":" in text:
                raise
            allowed = " or ".join([_METAVARS[self.kind], *self.words])
            raise argparse.ArgumentTypeError(f"{text!r} must be {allowed}") from None

    def _read_one(self, text: str) -> Any:
        values = self._read(text)
        if len(values) > 1:
            raise argparse.ArgumentTypeError(f"{text!r} must be one number, and no range")
        return values[0]

    def _help(self) -> str:
        text = self.text
        if self.name in _PARAMETERS and self.kind is str:
            text += f": {_PARAMETERS[self.name].domain}"
        if self.default not in (None, ()) and self.kind is not bool:
            text += f" (default {format_value(self.default)})"
        return text.replace("%", "%%")


def flags_of(make: Callable[..., Any]) -> dict[str, Flag]:
    """Make a flag of each field of a dataclass, or each parameter of a function, by name.

    Those that the vocabulary knows take several values: they can be dimensions of answers.
    """
    hints, documented = get_type_hints(make), dict(_documentation(make))
    texts = [text for _, text in documented.values()]
    flags = {}
    for name, parameter in inspect.signature(make).parameters.items():
        stated, text = documented.get(name, ("", ""))
        if name in _PARAMETERS and (not text or texts.count(text) > 1):
            text = _PARAMETERS[name].meaning
        kind, is_sequence = _kind(hints[name])
        words = tuple(re.findall(r'"(\w+)"', stated)) if kind in (int, float, _PAIR) else ()
        default = None if parameter.default is parameter.empty else parameter.default
        several = kind is not bool and name in MEANINGS
        flags[name] = Flag(name, kind, default, text, words, is_sequence, several)
    return flags


def question_flags(name: str) -> dict[str, Flag]:
    """Make the flags of a question's parameters, besides its problem.

    Parameters that it passes on are those of `solve`.
    """
    flags = flags_of(question_named(name))
    if flags.pop("values", None):
        flags |= flags_of(question_named("solve"))
    if "dimension" in flags:
        default = flags["dimension"].default or SIMULATED_DIMENSION
        flags["dimension"] = replace(flags["dimension"], default=default)
    return {k: flag for k, flag in flags.items() if k not in ("problem", "X", "y", "progress")}


def spelled(name: str) -> str:
    """Spell a field as a flag."""
    return "--" + name.replace("_", "-")


def _kind(hint: Any) -> tuple[Any, bool]:
    """Return the type of one value, and whether an argument is a sequence of such values."""
    args = get_args(hint)
    if {hint, *args} >= _NUMBERS:
        return float, True
    if hint == _PAIR or not args:
        return hint, False
    if get_origin(hint) is tuple:
        return args[0], True
    return args[0], any(get_origin(one) in (Sequence, Mapping) for one in args)


def _documentation(make: object) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each name of a numpydoc list, its type, and the first sentence on it as a help text.

    What is "as in `solve`" is taken from there.
    """
    lists = re.split(r"\n\w+\n-+\n", inspect.getdoc(make) or "")[1:2]
    for entry in re.split(r"\n(?=\S)", "".join(lists)):
        heading, *lines = entry.split("\n")
        names, _, stated = heading.partition(" : ")
        text = " ".join(line.strip() for line in lines).strip()
        elsewhere = re.search(r"[Aa]s in `(\w+)`", text)
        others = dict(_documentation(getattr(giantstep, elsewhere[1]))) if elsewhere else {}
        text = re.sub(r"`([a-z]\w+)`", lambda field: spelled(field[1]), text)
        sentence = re.split(r"(?<=\S)\.(?: |$)", text)[0]
        for name in names.split(", "):
            yield name, others.get(name, (stated, sentence[:1].lower() + sentence[1:]))
