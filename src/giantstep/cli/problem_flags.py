"""The flags that state a problem, and the problems that their values make.

A new field of `Protocol` is such a flag, without a line here.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from giantstep.cli.flags import add_flag, spelled
from giantstep.problems.parameter import parameters_of
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import one_spike, one_spike_parameters
from giantstep.questions.arguments import PAIR, Argument, arguments_of
from giantstep.questions.declaration import Question
from giantstep.validation import Fault, raise_all

_STEPS, _SPIKED = arguments_of(parameters_of(Protocol)), arguments_of(one_spike_parameters())
_STATED: dict[Callable[..., Problem], tuple[str, dict[str, Argument]]] = {
    Protocol: ("gradient steps on the first layer", _STEPS),
    one_spike: ("spiked random features given directly", _SPIKED),
}
# All names of them.
PROBLEM_FLAGS = {*_STEPS, *_SPIKED}


def add_problem(parser: argparse.ArgumentParser, ignored: Sequence[str] = ()) -> None:
    """Add the flags that every problem has, and those of each way to state one.

    Help does not list those that a question ignores, which `statement_of` refuses.
    """
    shared = {name: of for name, of in _STEPS.items() if name in _SPIKED}
    groups = {"the problem": shared}
    for word, (title, takes) in zip(("either", "or"), _STATED.values(), strict=True):
        groups[f"{word} {title}"] = {k: of for k, of in takes.items() if k not in shared}
    for title, takes in groups.items():
        group = parser.add_argument_group(title)
        for of in takes.values():
            add_flag(group, of, of.name in ignored)


def statement_of(
    of: Question, given: Mapping[str, Any]
) -> tuple[Callable[..., Problem], dict[str, Sequence[Any]]]:
    """Read the problems: what makes those of the kind of which most flags were given, and values.

    They are all combinations of these values; a readout is a single one. What a question does not
    depend on gets a value, which means nothing.

    Raises
    ------
    argparse.ArgumentError
        If a flag is missing, or flags are not of one kind.
    InvalidParametersError
        If the question does not depend on one.
    """
    without = of.without_effect(given) & _STEPS.keys()
    raise_all([Fault(name, given[name], of.refused) for name in given if name in without])
    make = max(_STATED, key=lambda one: len(_STATED[one][1].keys() & given.keys()))
    title, takes = _STATED[make]
    needed = [name for name, one in takes.items() if one.default is None]
    free = {x: ["tanh" if x == "activation" else 1.0] for x in needed if x in without}
    given = {**free, **given}
    if missing := [spelled(name) for name in needed if name not in given]:
        raise argparse.ArgumentError(None, f"missing for {title}: {', '.join(missing)}")
    if others := [spelled(name) for name in given if name in PROBLEM_FLAGS - takes.keys()]:
        raise argparse.ArgumentError(None, f"{', '.join(others)}: not for {title}")
    return make, {name: _values(one, given) for name, one in takes.items()}


def _values(of: Argument, given: Mapping[str, Any]) -> Sequence[Any]:
    """Return the values of an argument, by default a single one."""
    value = given.get(of.name, [of.default])
    if of.kind is PAIR and of.name in given:
        return [tuple(value)]
    return value if isinstance(value, list) else [value]
