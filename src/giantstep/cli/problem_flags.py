"""The flags that state a problem, and the problems that their values make.

A new field of `Protocol` is such a flag, without a line here.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from giantstep.cli.flags import add_flag, spelled
from giantstep.problems.parameter import parameters_of
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import one_spike, one_spike_parameters
from giantstep.questions.arguments import PAIR, Argument, arguments_of


class Kind(NamedTuple):
    """One way to state a problem, and the flags that no other way has."""

    title: str
    make: Callable[..., Problem]
    takes: dict[str, Argument]


_STEPS, _SPIKED = arguments_of(parameters_of(Protocol)), arguments_of(one_spike_parameters())
_SHARED = {name: of for name, of in _STEPS.items() if name in _SPIKED}
_KINDS = tuple(
    Kind(title, make, {name: of for name, of in takes.items() if name not in _SHARED})
    for title, make, takes in (
        ("gradient steps on the first layer", Protocol, _STEPS),
        ("spiked random features given directly", one_spike, _SPIKED),
    )
)


# All names of them.
PROBLEM_FLAGS = {*_STEPS, *_SPIKED}


def add_problem(parser: argparse.ArgumentParser) -> None:
    """Add the flags that every problem has, and those of each way to state one."""
    group = parser.add_argument_group("the problem")
    for of in _SHARED.values():
        add_flag(group, of)
    for word, kind in zip(("either", "or"), _KINDS, strict=True):
        group = parser.add_argument_group(f"{word} {kind.title}")
        for of in kind.takes.values():
            add_flag(group, of)


def statement_of(
    given: Mapping[str, Any],
) -> tuple[Callable[..., Problem], dict[str, Sequence[Any]]]:
    """Read the problems: what makes those of the kind of which most flags were given, and values.

    They are all combinations of these values; a readout is a single one.

    Raises
    ------
    argparse.ArgumentError
        If a flag is missing, or flags are not of one kind.
    """
    chosen = max(_KINDS, key=lambda kind: len(kind.takes.keys() & given.keys()))
    takes = _SHARED | chosen.takes
    needed = (name for name, of in takes.items() if of.default is None)
    if missing := [spelled(name) for name in needed if name not in given]:
        raise argparse.ArgumentError(None, f"missing for {chosen.title}: {', '.join(missing)}")
    if others := [spelled(name) for name in given if name in PROBLEM_FLAGS - takes.keys()]:
        raise argparse.ArgumentError(None, f"{', '.join(others)}: not for {chosen.title}")
    return chosen.make, {name: _values(of, given) for name, of in takes.items()}


def _values(of: Argument, given: Mapping[str, Any]) -> Sequence[Any]:
    """Return the values of an argument, by default a single one."""
    value = given.get(of.name, [of.default])
    if of.kind is PAIR and of.name in given:
        return [tuple(value)]
    return value if isinstance(value, list) else [value]
