"""The flags that state a problem, and the problems that their values make.

A new field of `Protocol` or `one_spike` is such a flag, without a line here.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

from giantstep.cli.flags import Flag, flags_of, spelled
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import one_spike


class Kind(NamedTuple):
    """One way to state a problem, and the flags that no other way has."""

    title: str
    make: Callable[..., Problem]
    flags: dict[str, Flag]

    @property
    def required(self) -> tuple[str, ...]:
        """The flags without a default: giving them is choosing this kind."""
        return tuple(name for name, flag in self.flags.items() if flag.default is None)


_STEPS, _SPIKED = flags_of(Protocol), flags_of(one_spike)
_SHARED = {name: flag for name, flag in _STEPS.items() if name in _SPIKED}
_KINDS = tuple(
    Kind(title, make, {name: flag for name, flag in flags.items() if name not in _SHARED})
    for title, make, flags in (
        ("gradient steps on the first layer", Protocol, _STEPS),
        ("spiked random features given directly", one_spike, _SPIKED),
    )
)


def add_problem(parser: argparse.ArgumentParser) -> None:
    """Add the flags that every problem has, and those of each way to state one."""
    group = parser.add_argument_group("the problem")
    for flag in _SHARED.values():
        flag.add_to(group)
    for word, kind in zip(("either", "or"), _KINDS, strict=True):
        group = parser.add_argument_group(f"{word} {kind.title}")
        for flag in kind.flags.values():
            flag.add_to(group)


def statement_of(
    arguments: argparse.Namespace,
) -> tuple[Callable[..., Problem], dict[str, tuple[Any, ...]]]:
    """Read the problems: what makes those of the kind whose required flags were given, and values.

    They are all combinations of these values.

    Raises
    ------
    argparse.ArgumentError
        If a flag is missing, or the flags are not those of one kind.
    """
    needed = [name for name, flag in _SHARED.items() if flag.default is None]
    if missing := [spelled(name) for name in needed if getattr(arguments, name) is None]:
        raise argparse.ArgumentError(None, f"give {' '.join(missing)}")
    given = {
        name for kind in _KINDS for name in kind.required if getattr(arguments, name) is not None
    }
    chosen = next((kind for kind in _KINDS if set(kind.required) == given), None)
    if chosen is None:
        choices = " or all of ".join(" ".join(map(spelled, kind.required)) for kind in _KINDS)
        got = " ".join(map(spelled, sorted(given))) or "none of them"
        raise argparse.ArgumentError(None, f"give all of {choices}; got {got}")
    for kind in _KINDS:
        for name, flag in kind.flags.items():
            if kind is not chosen and flag.alternatives(arguments) != (flag.default,):
                raise argparse.ArgumentError(None, f"{spelled(name)} is for {kind.title}")
    flags = _SHARED | chosen.flags
    return chosen.make, {name: flag.alternatives(arguments) for name, flag in flags.items()}
