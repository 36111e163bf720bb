"""Answers to the questions of the command line: all combinations of the values of its flags."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from itertools import islice
from typing import Any

import numpy as np
import xarray as xr

from giantstep.cli.commands import commands
from giantstep.cli.problem_flags import PROBLEM_FLAGS, statement_of
from giantstep.cli.samples import load_samples
from giantstep.problems.bulk_kind import TRAINED
from giantstep.problems.combinations import combinations, varied
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS
from giantstep.questions.arguments import OPTIMAL, Argument, Many
from giantstep.questions.choices import GAINS, RIDGE, STOP_AT
from giantstep.questions.costs import Cost, check_cost, cost_of, total_cost
from giantstep.questions.declaration import declaration_of
from giantstep.questions.instead_of_ridge import times_to_ridges
from giantstep.questions.product import answer_each
from giantstep.questions.progress import Progress
from giantstep.questions.remarks import CORRECTIONS
from giantstep.questions.request import DEFAULTS, POINTS
from giantstep.questions.task import Task, question_named
from giantstep.suggestions import did_you_mean
from giantstep.validation import collected, raise_all, refusal

# Above so many seconds, the estimate is printed before the start.
_LONG = 60.0
# How many combinations are estimated; the others are taken to cost as much.
_ESTIMATED = 100
_FEATURES = ["bulk_variance", "spike_strength", "fraction", "bias", "alignment"]
_ACCURACY = ("residual", "quadrature_error", "iterations")


def answer(arguments: argparse.Namespace) -> xr.Dataset:
    """Answer the question of a command line.

    Raises
    ------
    InvalidParametersError
        With all that is wrong with it.
    argparse.ArgumentError
        For flags that do not go together; for what would take too long, or too much memory.
    """
    for names in {"over", "zip"} & {*vars(arguments)}:  # spelled as flags
        setattr(arguments, names, [name.replace("-", "_") for name in getattr(arguments, names)])
    _complete(arguments.command, vars(arguments))
    return Line(arguments).answer()


class Line:
    """A command line that asks a question.

    Attributes
    ----------
    arguments : argparse.Namespace
        Those that were given.
    own : dict
        Values of each argument of the question that was given, or must be.
    apart : dict
        Of these and of the fields of problems, those of which the question takes one value.
    """

    def __init__(self, arguments: argparse.Namespace) -> None:
        given, self.arguments = vars(arguments), arguments
        name = commands()[arguments.command].question
        form = signature(question_named(name)).parameters
        self._of = declaration_of(question_named(name))
        needed = {k for k, one in form.items() if one.default is Parameter.empty}
        takes = [of for of in self._of.takes if of.name in {*given, *needed}]
        takes.sort(key=lambda of: of.name in (*POINTS, STOP_AT))  # they vary fastest
        self.own = {of.name: given.get(of.name, [of.default]) for of in takes}
        fields: dict[str, Any] = {}
        self._subject: Callable[..., tuple[Any, ...]]
        if self._of.data:
            samples = tuple(load_samples(given[name]) for name in self._of.data)
            self._subject = lambda **_: samples
        else:
            make, fields = statement_of(given)
            self._subject = lambda **chosen: (make(**chosen),)
        self._first = {name: values[0] for name, values in fields.items()}
        swept = {name: list(values) for name, values in varied(fields).items()}
        self._check(takes, swept)
        self.apart = fields | {of.name: self.own[of.name] for of in takes if of.many is Many.APART}
        if name in ("solve", "sweep"):  # which take all values at once
            name, self.apart, self.own = "sweep" if swept else name, {}, swept | self.own
        self._ask = question_named(name)
        self._progress = "progress" in signature(self._ask).parameters

    @property
    def count(self) -> int:
        """How many combinations are asked for one after the other."""
        return math.prod(map(len, self.apart.values()))

    def answer(self) -> xr.Dataset:
        """Answer for all combinations, as one dataset."""
        if not self._of.data:  # which estimates its own
            self._check_cost()

        def ask(chosen: dict[str, Any], progress: Progress) -> xr.Dataset:
            told = {"progress": progress} if self._progress else {}
            found = self._ask(*self._subject_of(chosen), **self._chosen(chosen), **told)
            return _shown(found, self)

        return answer_each(self.apart, ask)

    def _subject_of(self, chosen: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return what the question is about, of one combination."""
        return self._subject(**{name: chosen.get(name, x) for name, x in self._first.items()})

    def _chosen(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """Return the question's own arguments, of one combination."""
        own = {k: x[0] if isinstance(x, list) and len(x) == 1 else x for k, x in self.own.items()}
        return {name: chosen.get(name, value) for name, value in own.items()}

    def _check(self, takes: Sequence[Argument], swept: Mapping[str, list[Any]]) -> None:
        """Refuse problems and values that cannot be, all at once."""
        faults = [
            fault
            for of in takes
            for value in np.ravel(np.array(self.own[of.name], dtype=object))
            if value not in of.words
            for fault in of.faults(value)
        ]
        with collected(faults):
            self._subject(**self._first)
        for name, values in swept.items():
            for value in values[1:]:
                with collected(faults):
                    self._subject(**self._first | {name: value})
        raise_all(faults)

    def _check_cost(self) -> None:
        """Refuse what takes too long; say what takes a while.

        Raises
        ------
        CostError
        """
        costs, threads = [], self.own.get("threads", 1)
        zipped = self.own.get("zip", ())[1:]  # one value of these goes with one of the first
        for chosen in islice(combinations(self.apart), _ESTIMATED):
            own = {k: x for k, x in self._chosen(chosen).items() if k not in zipped}
            times_to_ridges(own)
            (problem,) = self._subject_of(chosen)
            costs.append(cost_of(Task(self._ask.__name__, problem, own), threads))
        seconds, memory = total_cost(costs)
        cost = Cost(seconds * self.count / len(costs), memory)
        limits = {of.name: self.own.get(of.name, of.default) for of in self._of.takes}
        check_cost(cost, limits["max_hours"], limits["max_memory"])
        if cost.seconds > _LONG:
            print(f"this takes about {cost.seconds / 60:.2g} minutes of one core", file=sys.stderr)


def _complete(command: str, given: dict[str, Any]) -> None:
    """Read the axes of a map; give a value, which means nothing, to what questions decide."""
    names: list[str] = []
    match command:
        case "map":
            _read_map(given)
        case "optimise":
            over = given.get("over", ["learning_rate"])
            if RIDGE in over:
                given["ridge"] = [OPTIMAL]
            if "learning_rate" in over and "alpha0" in given:
                given["learning_rate"] = [1.0]
        case "plan":
            names = ["alpha0", *given.get("over", ()), *(["beta"] if "flops" in given else [])]
        case "thresholds":
            names = ["learning_rate", "alpha0", "beta"]
            given.setdefault("activation", ["tanh"])
    for name in names:
        given.setdefault(name, [1.0])


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
    given["gains"] = [given["show"]] if given["show"] in GAINS else []
    # Maps of other variables are faster.
    given["classification_error"] = given["show"] == "classification_error"


def _shown(found: xr.Dataset, line: Line) -> xr.Dataset:
    """Leave out what is zero, what was not asked for, and what the problem itself states."""
    match line.arguments.command:
        case "theory" | "sweep" as command:
            hidden = ["optimal_ridge_on_edge", *(OVERLAP_DIMENSIONS if command == "sweep" else ())]
            hidden += [] if line.arguments.certificate else [*_ACCURACY, *CORRECTIONS]
            hidden += [] if TRAINED in found["bulk"] else ["xi"]
            if "derivative" in found:  # a row for each parameter
                found = found[["derivative", *found.drop_vars("derivative").data_vars]]
            return found.drop_vars(hidden, errors="ignore")
        case "map":
            show, axes = line.arguments.show, line.arguments
            if show not in found:
                allowed = f"one of {', '.join([*GAINS, *map(str, found.data_vars)])}"
                raise refusal("show", show, allowed)
            names = dict.fromkeys([show, "test_error", "status"])
            return found[list(names)].transpose(axes.y, axes.x, ...)
        case "spectrum":
            return _with_edges(found, line)
        case "srf":
            by_step = [x for x in found.data_vars if found[x].ndim and x not in _FEATURES]
            return found[[*_FEATURES, *by_step]]
    return found.drop_vars(CORRECTIONS, errors="ignore")


def _with_edges(found: xr.Dataset, line: Line) -> xr.Dataset:
    """Say beside a density what it does not show: eigenvalues at zero, edges and outliers."""
    if line.count > 1:  # each has eigenvalues of its own
        points = np.arange(1, found.sizes["eigenvalue"] + 1)
        return found.assign_coords(point=("eigenvalue", points)).swap_dims(eigenvalue="point")
    dimension = found["dimension"].item()
    which = "of order d" if np.isinf(dimension) else f"above the bulk at d = {dimension:g}"
    pairs = zip(found["bulk_lower_edge"].values, found["bulk_upper_edge"].values, strict=True)
    large = ", ".join(f"{value:.6g} d" for value in found["outlier"].values) or "none"
    remarks = [
        *found.attrs.get("remarks", "").splitlines(),
        f"share of eigenvalues at zero: {found['mass_at_zero'].item():.6g}",
        f"bulk: {', '.join(f'[{low:.6g}, {high:.6g}]' for low, high in pairs)}",
        f"eigenvalues {which}: {large}",
    ]
    return found.assign_attrs(remarks="\n".join(remarks))
