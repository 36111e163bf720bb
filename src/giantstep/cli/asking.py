"""Answers to the questions of the command line: all combinations of the values of its flags."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from inspect import Parameter, signature
from typing import Any

import xarray as xr

from giantstep.cli.commands import commands
from giantstep.cli.problem_flags import PROBLEM_FLAGS, statement_of
from giantstep.problems.number_files import load_numbers
from giantstep.questions.choices import GAINS, STOP_AT
from giantstep.questions.remarks import CORRECTIONS
from giantstep.questions.request import DEFAULTS
from giantstep.questions.task import question_named
from giantstep.suggestions import did_you_mean
from giantstep.validation import collected, raise_all, refusal

_FEATURES = ["bulk_variance", "spike_strength", "fraction", "bias", "alignment"]
_ACCURACY = ("residual", "quadrature_error", "iterations")


def answer(arguments: argparse.Namespace) -> xr.Dataset:
    """Answer the question of a command line, for all combinations of the values of its flags.

    Raises
    ------
    InvalidParametersError
        With all that is wrong with it.
    argparse.ArgumentError
        For flags that do not go together; for what would take too long, or too much memory.
    """
    given = vars(arguments)
    for names in {"over", "zip"} & {*given}:  # spelled as flags
        given[names] = [name.replace("-", "_") for name in given[names]]
    if arguments.command == "map":
        _read_map(given)
    ask = question_named(commands()[arguments.command].question)
    of, form = ask.declaration, signature(ask).parameters
    needed = {name for name, one in form.items() if one.default is Parameter.empty}
    own = {x.name: given.get(x.name, x.default) for x in of.takes if x.name in {*given, *needed}}
    own = {k: x[0] if isinstance(x, list) and len(x) == 1 else x for k, x in own.items()}
    faults = [fault for one in of.takes if one.name in own for fault in one.faults(own[one.name])]
    swept: dict[str, Sequence[Any]] = {}
    if of.data:
        subject = [load_numbers(str(given[name])) for name in of.data]
    else:
        make, fields = statement_of(of, given)
        subject, swept = [], {name: x for name, x in fields.items() if len(x) > 1}
        with collected(faults):
            subject.append(make(**{name: values[0] for name, values in fields.items()}))
    raise_all(faults)
    if of.name == "solve" and swept:  # all at once
        ask = question_named("sweep")
    return _shown(ask(*subject, **swept, **own), arguments)


def _read_map(given: dict[str, Any]) -> None:
    """Give the values of the axes of a map to the flags with their names."""
    known = [*PROBLEM_FLAGS, *DEFAULTS, STOP_AT]
    for axis in ("y", "x"):
        name, numbers = given[axis]
        if name not in known:
            hint = did_you_mean(name, known)
            raise argparse.ArgumentError(None, f"--{axis}: there is no parameter {name}{hint}")
        if axis == "x" and name == given["y"]:
            raise argparse.ArgumentError(None, f"--x and --y must differ, both are {name}")
        given |= {axis: name, name: numbers}
    given |= {"gains": [given["show"]]} if given["show"] in GAINS else {}
    # Maps of other variables are faster.
    given["classification_error"] = given["show"] == "classification_error"


def _shown(found: xr.Dataset, arguments: argparse.Namespace) -> xr.Dataset:
    """Leave out what was not asked for, and what the problem itself states."""
    match arguments.command:
        case "theory" | "sweep":
            hidden = [] if arguments.certificate else [*_ACCURACY, *CORRECTIONS]
            if "derivative" in found:  # a row for each parameter
                found = found[["derivative", *found.drop_vars("derivative").data_vars]]
            return found.drop_vars(hidden, errors="ignore")
        case "map":
            show = arguments.show
            if show not in found:
                allowed = f"one of {', '.join([*GAINS, *map(str, found.data_vars)])}"
                raise refusal("show", show, allowed)
            names = dict.fromkeys([show, "test_error", "status"])
            return found[list(names)].transpose(arguments.y, arguments.x, ...)
        case "srf":
            others = [name for name in found.data_vars if name not in PROBLEM_FLAGS]
            return found[[*_FEATURES, *others]]
    return found.drop_vars(CORRECTIONS, errors="ignore")
