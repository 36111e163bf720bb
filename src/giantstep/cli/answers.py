"""Answers to the questions of the command line: all combinations of the values of its flags."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Mapping
from inspect import signature
from itertools import islice
from typing import Any

import numpy as np
import xarray as xr

from giantstep.cli.commands import ON_DATA, commands, question_of
from giantstep.cli.flags import alternatives
from giantstep.cli.problem_flags import statement_of
from giantstep.cli.products import answer_each
from giantstep.problems.bulk_kind import TRAINED
from giantstep.problems.combinations import combinations, varied
from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS
from giantstep.problems.problem import Problem
from giantstep.problems.sizes import Sizes, check_sizes
from giantstep.questions.arguments import OPTIMAL, Many
from giantstep.questions.checks import choose_ridge
from giantstep.questions.choices import GAINS, RIDGE, STOP_AT
from giantstep.questions.costs import Cost, check_cost, cost_of, total_cost
from giantstep.questions.progress import Progress
from giantstep.questions.remarks import CORRECTIONS
from giantstep.questions.stopping import times_to_ridges
from giantstep.questions.task import Task, question_named
from giantstep.suggestions import did_you_mean
from giantstep.validation import (
    Fault,
    RefusalError,
    collected,
    raise_all,
    refusal,
)
from giantstep.vocabulary import MEANINGS

# Above so many seconds, the estimate is printed before the start.
_LONG = 60.0
# How many combinations are estimated; the others are taken to cost as much.
_ESTIMATED = 100
# So many spectra are described in words.
_DESCRIBED = 4
# More points of one problem show how far they are.
_SILENT = 10_000
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
    if commands()[arguments.command].question == ON_DATA:
        return _answer_on_data(arguments)
    if arguments.command in _BEFORE:
        _BEFORE[arguments.command](arguments)
    if "by" in arguments:
        choose_ridge(vars(arguments))
    request = Request(arguments)
    if request.question in ("solve", "sweep"):
        return _AFTER[arguments.command](request.sweep(), request)
    return request.each(_AFTER.get(arguments.command, _show_all))


def _answer_on_data(arguments: argparse.Namespace) -> xr.Dataset:
    """Answer for the samples of two files."""
    from giantstep.questions.from_data import from_data  # only here: few commands train networks

    try:
        samples = [np.load(path, allow_pickle=False) for path in (arguments.X, arguments.y)]
    except (ValueError, EOFError) as error:
        raise RefusalError(f"X and y must be files that numpy.save wrote: {error}") from None
    takes = question_of(commands()[arguments.command]).takes
    apart = {of.name: alternatives(of, arguments) for of in takes}
    return answer_each(apart, lambda chosen, report: from_data(*samples, **chosen, progress=report))


class Request:
    """What a command line asks: a question, of problems, with values of its parameters.

    Parameters
    ----------
    arguments : argparse.Namespace

    Attributes
    ----------
    question : str
    together : dict
        Parameters that the question takes at once.
    apart : dict of tuple
        Fields of problems, and parameters of which the question takes one value at a time.
    """

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments, self.question = arguments, commands()[arguments.command].question
        self._make, self._fields = statement_of(arguments)
        declared = question_of(commands()[arguments.command])
        takes = {of.name: of for of in declared.takes}
        if getattr(arguments, STOP_AT, None) or STOP_AT in getattr(arguments, "over", ()):
            if arguments.ridge != [takes.pop(RIDGE).default]:
                raise refusal(RIDGE, arguments.ridge, f"left out with {STOP_AT}")
            if arguments.loss == [takes["loss"].default]:
                del takes["loss"]
        self._takes = takes
        together = [k for k, of in takes.items() if of.many is not Many.APART]
        self.together = {name: _axis(getattr(arguments, name)) for name in together}
        own = {k: alternatives(of, arguments) for k, of in takes.items() if k not in together}
        self.apart: Mapping[str, tuple[Any, ...]] = self._fields | own
        self._check()
        cost = self._cost()
        check_cost(cost, arguments.max_hours, arguments.max_memory)
        if cost.seconds > _LONG:
            print(f"this takes about {cost.seconds / 60:.2g} minutes of one core", file=sys.stderr)

    def sweep(self) -> xr.Dataset:
        """Solve the theory for all combinations, as one answer."""
        several = {name: list(values) for name, values in varied(self._fields).items()}
        own = {k: _axis(list(x)) for k, x in self.apart.items() if k not in self._fields}
        ridges = self.together.get(RIDGE, self.together[STOP_AT])
        points = np.size(self.together["alpha"]) * np.size(ridges)
        one = self.question == "solve" and not varied(self.apart) and points <= _SILENT
        question = question_named("solve" if one else "sweep")
        return question(self.first, **several, **own, **self.together)

    def each(self, complete: Completion) -> xr.Dataset:
        """Answer for each combination, as one dataset."""
        question = question_named(self.question)
        reports = "progress" in signature(question).parameters

        def ask(chosen: dict[str, Any], progress: Progress) -> xr.Dataset:
            told = {"progress": progress} if reports else {}
            found = question(self._problem(chosen), **self._parameters(chosen), **told)
            return complete(found, self)

        return answer_each(self.apart, ask)

    @property
    def count(self) -> int:
        """How many combinations there are."""
        return math.prod(map(len, self.apart.values()))

    def _problem(self, chosen: Mapping[str, Any]) -> Problem:
        """Make the problem of one combination of values."""
        return self._make(**{name: chosen[name] for name in self._fields})

    def _parameters(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        own = {name: value for name, value in chosen.items() if name not in self._fields}
        return self.together | own

    def _check(self) -> None:
        """Refuse problems, points and numbers that cannot be, all at once."""
        faults: list[Fault] = []
        first = {name: values[0] for name, values in self.apart.items()}
        with collected(faults):
            self.first = self._problem(first)
        for name, values in varied(self._fields).items():
            for value in values[1:]:
                with collected(faults):
                    self._problem(first | {name: value})
        given = vars(self.arguments)
        if "ridge" in given and "alpha" in given:
            if OPTIMAL in given["ridge"] and len(given["ridge"]) > 1:
                faults.append(Fault("ridge", OPTIMAL, "alone, without numbers"))
            for loss in given.get("loss", [SQUARE]):
                with collected(faults):
                    self._grid(loss)
        for of in self._takes.values():
            if of.many is Many.REFUSED and given.get(of.name) is not None:
                faults += of.faults(given[of.name])
        raise_all(faults)

    def _cost(self) -> Cost:
        """Estimate the seconds of all combinations, and the MiB of memory of the largest."""
        costs = []
        for chosen in islice(combinations(self.apart), _ESTIMATED):
            problem, given = self._problem(chosen), self._parameters(chosen)
            if "networks" in given:
                sizes = Sizes(given["dimension"], given["trainings"], given["test_samples"])
                check_sizes(problem, self._grid(given.get("loss", SQUARE)), sizes)
            times_to_ridges(given)
            task = Task(self.question, problem, given)
            costs.append(cost_of(task, given.get("threads", 1)))
        seconds, memory = total_cost(costs)
        seconds *= self.count / len(costs)
        # One value of these goes with one of the first, not with all.
        for name in self.together.get("zip", ())[1:]:
            seconds /= max(1, np.size(getattr(self.arguments, name, ())))
        return Cost(seconds, memory)

    def _grid(self, loss: str) -> Grid:
        ridges = tuple(self.arguments.ridge)
        return Grid(tuple(self.arguments.alpha), (1.0,) if OPTIMAL in ridges else ridges, loss)


Completion = Callable[[xr.Dataset, Request], xr.Dataset]


def _axis(values: Any) -> Any:
    """Return a single value as it is, which becomes no dimension."""
    return values[0] if isinstance(values, list) and len(values) == 1 else values


def _read_map(arguments: argparse.Namespace) -> None:
    """Give the values of the axes of a map to the flags with their names."""
    for axis in ("y", "x"):
        name, numbers = getattr(arguments, axis)
        known = [key for key in vars(arguments) if key in MEANINGS]
        if name not in known:
            hint = did_you_mean(name, known)
            raise argparse.ArgumentError(None, f"--{axis}: there is no parameter {name}{hint}")
        if axis == "x" and name == arguments.y:
            raise argparse.ArgumentError(None, f"--x and --y must differ, both are {name}")
        setattr(arguments, axis, name)
        setattr(arguments, name, numbers)
    arguments.zip, arguments.derivatives = (), False
    arguments.gains = [arguments.show] if arguments.show in GAINS else []
    # Maps of other variables are faster.
    arguments.classification_error = arguments.show == "classification_error"


def _read_optimum(arguments: argparse.Namespace) -> None:
    """Give what is optimised a value, which means nothing."""
    if RIDGE in arguments.over:
        arguments.ridge = [OPTIMAL]
    if "learning_rate" in arguments.over and arguments.alpha0 is not None:
        arguments.learning_rate = [1.0]


def _read_plan(arguments: argparse.Namespace) -> None:
    """Give what a plan decides a value, which means nothing."""
    planned = ["alpha0", *arguments.over, *([] if arguments.flops is None else ["beta"])]
    _fill(arguments, **dict.fromkeys(planned, 1.0))


def _read_thresholds(arguments: argparse.Namespace) -> None:
    """Give what thresholds do not depend on a value, which means nothing."""
    _fill(arguments, activation="tanh", learning_rate=1.0, alpha0=1.0, beta=1.0)


def _fill(arguments: argparse.Namespace, **values: Any) -> None:
    for name, value in values.items():
        if vars(arguments).get(name) is None:
            setattr(arguments, name, [value])


def _show_theory(found: xr.Dataset, request: Request) -> xr.Dataset:
    """Leave out what `--certificate` shows, and what is zero."""
    hidden = ["optimal_ridge_on_edge"]
    hidden += [] if request.arguments.certificate else [*_ACCURACY, *CORRECTIONS]
    hidden += [] if TRAINED in found["bulk"] else ["xi"]
    if "derivative" in found:  # a row for each parameter
        found = found[["derivative", *found.drop_vars("derivative").data_vars]]
    return found.drop_vars(hidden, errors="ignore")


def _show_all(found: xr.Dataset, _: Request) -> xr.Dataset:
    """Leave out the corrections that `reliability` sums up."""
    return found.drop_vars(CORRECTIONS, errors="ignore")


def _show_sweep(found: xr.Dataset, request: Request) -> xr.Dataset:
    """Leave out the overlaps as well."""
    return _show_theory(found, request).drop_vars(OVERLAP_DIMENSIONS, errors="ignore")


def _show_map(found: xr.Dataset, request: Request) -> xr.Dataset:
    """Choose the variable that is shown, along the two axes."""
    if request.arguments.show not in found:
        allowed = f"one of {', '.join([*GAINS, *map(str, found.data_vars)])}"
        raise refusal("show", request.arguments.show, allowed)
    names, axes = [request.arguments.show, "test_error", "status"], request.arguments
    return found[list(dict.fromkeys(names))].transpose(axes.y, axes.x, ...)


def _show_spectrum(found: xr.Dataset, request: Request) -> xr.Dataset:
    """Say beside a density what it does not show: eigenvalues at zero, edges and outliers."""
    dimension = found["dimension"].item()
    which = "of order d" if np.isinf(dimension) else f"above the bulk at d = {dimension:g}"
    pairs = zip(found["bulk_lower_edge"].values, found["bulk_upper_edge"].values, strict=True)
    edges = ", ".join(f"[{low:.6g}, {high:.6g}]" for low, high in pairs)
    large = ", ".join(f"{value:.6g} d" for value in found["outlier"].values) or "none"
    remarks = found.attrs.get("remarks", "").splitlines()
    if request.count <= _DESCRIBED:
        remarks += [
            f"share of eigenvalues at zero: {found['mass_at_zero'].item():.6g}",
            f"bulk: {edges}",
            f"eigenvalues {which}: {large}",
        ]
    found = found.assign_attrs(remarks="\n".join(remarks))
    if request.count == 1:
        return found
    # Each of several densities has eigenvalues of its own.
    points = np.arange(1, found.sizes["eigenvalue"] + 1)
    return found.assign_coords(point=("eigenvalue", points)).swap_dims(eigenvalue="point")


def _show_features(found: xr.Dataset, request: Request) -> xr.Dataset:
    """Leave out what the problem itself states."""
    by_step = [name for name in found.data_vars if found[name].ndim and name not in _FEATURES]
    return found[[*_FEATURES, *by_step]]


_BEFORE = {
    "map": _read_map,
    "optimise": _read_optimum,
    "plan": _read_plan,
    "thresholds": _read_thresholds,
}
_AFTER = {
    "theory": _show_theory,
    "sweep": _show_sweep,
    "map": _show_map,
    "spectrum": _show_spectrum,
    "srf": _show_features,
}
