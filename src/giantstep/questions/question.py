"""Questions: functions whose answers are labelled datasets, with parameters and remarks."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from inspect import Signature
from typing import Any, ParamSpec

import numpy as np
import xarray as xr

from giantstep.numerics.own_functions import check_unchanged
from giantstep.problems.bulk_kind import bulk_of_networks
from giantstep.problems.formatting import format_problem
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.progress import Progress
from giantstep.questions.arguments import OPTIMAL, Argument, Many
from giantstep.questions.checks import input_faults
from giantstep.questions.costs import check_cost, cost_of
from giantstep.questions.datasets import drop_fixed, total_samples
from giantstep.questions.declaration import Question, declare
from giantstep.questions.instead_of_ridge import choose_ridge, ridges_to_times, times_to_ridges
from giantstep.questions.product import Ask, Result, answer_each
from giantstep.questions.remarks import input_remarks
from giantstep.questions.task import Task
from giantstep.questions.values import as_lists, is_several
from giantstep.suggestions import did_you_mean
from giantstep.validation import Fault, raise_all, refusal, whole_number
from giantstep.vocabulary import label

P = ParamSpec("P")
_FIELDS = {*Protocol.__dataclass_fields__, *SpikedFeatures.__dataclass_fields__}


def question(*takes: Argument) -> Callable[[Callable[P, Result]], Callable[P, xr.Dataset]]:
    """Make a question of a function of a problem, or of samples.

    Arguments are checked as they are declared. Several values of a field of the problem, or of an
    argument that takes one at a time, are a question for each; a single value is no dimension. If
    it is about a problem, the cost of all answers is checked first. Answers are labelled: their
    variables are those of the vocabulary, and their coordinates and attributes have the parameters.
    """

    def decorate(ask: Callable[P, Result]) -> Callable[P, xr.Dataset]:
        of, form = declare(ask, takes)

        @wraps(ask)
        def answered(*args: P.args, **kwargs: P.kwargs) -> xr.Dataset:
            given, several, stopped = _arguments(of, form, args, kwargs)
            prepare = partial(_prepare, ask, of, given)
            data, remarks = answer_each(several, prepare, given.get("progress"))
            data = ridges_to_times(data) if stopped else data
            return _labelled(data, remarks, given, of, bool(several))

        answered.__signature__ = form  # type: ignore[attr-defined]
        return answered

    return decorate


def _arguments(
    of: Question, form: Signature, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], bool]:
    """Return all arguments, those of several values for a question each, and if times are given.

    Raises
    ------
    TypeError, InvalidParametersError, CostError
    """
    known = form.parameters
    # A sweep takes any names, and handles fields of the problem itself.
    further = set() if "values" in known else {*kwargs} - {*known}
    for name in further if of.data else further - _FIELDS:
        raise TypeError(f"{of.name} has no parameter {name!r}{did_you_mean(name, known)}")
    changes = {name: as_lists(kwargs.pop(name)) for name in [*kwargs] if name in further}
    given: dict[str, Any] = form.bind(*args, **kwargs).arguments
    given |= given.pop("values", {})
    defaults = {x.name: x.default for x in known.values() if x.default is not x.empty}
    refused = of.without_effect(changes | given)
    values = {name: as_lists(x) for name, x in (changes | given).items() if name in refused}
    raise_all([Fault(name, x, of.refused) for name, x in values.items() if x != OPTIMAL])
    stopped = _read(given, of, known)
    given = defaults | given
    apart = {one.name: given[one.name] for one in of.takes if one.many is Many.APART}
    several = {name: x for name, x in (changes | apart).items() if is_several(name, x)}
    if not of.data:
        one = {name: x for name, x in changes.items() if name not in several}
        given["problem"] = _changed(given["problem"], one)
        _check(of, given | several, given.pop("max_hours"), given.pop("max_memory"))
    return given, several, stopped


def _prepare(
    ask: Callable[..., Result], of: Question, given: Mapping[str, Any], chosen: Mapping[str, Any]
) -> Ask:
    """Make what answers at one value of each argument, given where to report."""
    here = {**given, **{name: x for name, x in chosen.items() if name in given}}
    if not of.data:
        here["problem"] = _changed(given["problem"], chosen)

    def answer(report: Progress) -> Result:
        found = ask(**here | dict.fromkeys({"progress"} & {*here}, report))
        data, remarks = found if isinstance(found, tuple) else (found, [])
        return drop_fixed(data, here), remarks

    return answer


def _read(given: dict[str, Any], of: Question, known: Container[str]) -> bool:
    """Read and check the arguments of a question; return whether times are in place of ridges.

    Arrays and the like become lists, and numbers of NumPy those of Python. A sweep checks its own
    values, which are not known, with all else that varies.

    Raises
    ------
    InvalidParametersError
    """
    faults: list[Fault] = []
    choose_ridge(given, of)
    for one in of.takes:
        if one.name in given and one.name in known:
            value = as_lists(given[one.name])
            given[one.name] = whole_number(value) if one.kind is int else value
            faults += [] if value == as_lists(one.default) else one.faults(value)
    raise_all(faults)
    return times_to_ridges(given)


def _changed(problem: Any, values: Mapping[str, Any]) -> Problem:
    """Return a problem with other values of its fields; other names are ignored.

    Raises
    ------
    InvalidParametersError
    """
    if not isinstance(problem, Protocol | SpikedFeatures):
        raise refusal("problem", problem, "a Protocol or SpikedFeatures")
    changes = {name: value for name, value in values.items() if name in _FIELDS}
    return replace(problem, **changes) if changes else problem


def _check(of: Question, given: Mapping[str, Any], *limits: Any) -> None:
    """Refuse inputs that a question does not take, and what would take too much.

    Raises
    ------
    InvalidParametersError, CostError
    """
    problem, others = given["problem"], {k: x for k, x in given.items() if k != "problem"}
    check_unchanged(vars(problem).values())
    raise_all(input_faults(of.name, problem, others))
    check_cost(cost_of(Task(of.name, problem, others)), *limits)


def _labelled(
    data: xr.Dataset, remarks: list[str], given: Mapping[str, Any], of: Question, joined: bool
) -> xr.Dataset:
    """Label an answer, joined or not, and add the parameters and remarks of its question."""
    about = {"title": of.title}
    if not of.data:
        problem = given["problem"]
        about["problem"] = format_problem(problem)
        if not of.networks:
            inputs = data["inputs"] if "inputs" in data.coords else problem.inputs
            remarks = [*remarks, *input_remarks(np.ravel(inputs).tolist())]
        known = {k: given[k] for k in of.scalars if k in given and k not in data.coords}
        if "bulk" in known and known["bulk"] is None:
            known["bulk"] = bulk_of_networks(problem)
        if joined or "total_samples" not in data.coords:
            known |= total_samples(problem, data.coords.variables)
        data = data.assign_coords(known) if known else data
    about |= data.attrs | ({"remarks": "\n".join(remarks)} if remarks else {})
    data = label(data)
    for name in [x for x in data.data_vars if of.data and "error" in str(x)]:
        meaning = data[name].attrs["long_name"].replace("without label noise", "on labels as given")
        data[name].attrs |= {"long_name": meaning, "equation": "docs/data.md"}
    data.attrs = about
    return data
