"""Questions: functions whose answers are labelled datasets, with parameters and remarks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec

import numpy as np
import xarray as xr

from giantstep.numerics.own_functions import check_unchanged
from giantstep.problems.bulk_kind import bulk_of_networks
from giantstep.problems.formatting import format_problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.questions.arguments import Argument, Many
from giantstep.questions.checks import input_faults
from giantstep.questions.costs import check_theory
from giantstep.questions.datasets import total_samples
from giantstep.questions.declaration import Question, declaration_of, declare
from giantstep.questions.instead_of_ridge import choose_ridge, ridges_to_times, times_to_ridges
from giantstep.questions.product import answer_each
from giantstep.questions.progress import Progress
from giantstep.questions.remarks import input_remarks
from giantstep.questions.values import as_lists, is_several
from giantstep.suggestions import did_you_mean
from giantstep.validation import Fault, raise_all, refusal, whole_number
from giantstep.vocabulary import label

P = ParamSpec("P")
# What a question returns: its answer, and what to know before the answer is used.
Result = xr.Dataset | tuple[xr.Dataset, Sequence[str]]


def question(*takes: Argument) -> Callable[[Callable[P, Result]], Callable[P, xr.Dataset]]:
    """Make a question of a function of a problem, or of samples.

    Of a problem, it is checked, and what the theory takes; the answer is labelled, with variables
    named in the vocabulary, and says its parameters.
    """

    def decorate(ask: Callable[P, Result]) -> Callable[P, xr.Dataset]:
        declare(*takes)(ask)
        form, of = signature(ask), declaration_of(ask)

        @wraps(ask)
        def answered(*args: P.args, **kwargs: P.kwargs) -> xr.Dataset:
            bound = form.bind(*args, **kwargs)
            choose_ridge(bound.arguments, of)
            stopped = times_to_ridges(bound.arguments)
            bound.apply_defaults()
            problem = bound.arguments["problem"]
            if not isinstance(problem, Protocol | SpikedFeatures):
                raise refusal("problem", problem, "a Protocol or SpikedFeatures")
            check_unchanged(vars(problem).values())
            raise_all(input_faults(of.name, problem, bound.arguments))
            check_theory(of.work, bound.arguments)
            result = ask(*bound.args, **bound.kwargs)
            data, remarks = result if isinstance(result, tuple) else (result, [])
            data = ridges_to_times(data) if stopped else data
            return _labelled(data, remarks, bound.arguments, of)

        return _taking_several(ask if of.data else answered)

    return decorate


def _labelled(
    data: xr.Dataset, remarks: Sequence[str], given: Mapping[str, Any], of: Question
) -> xr.Dataset:
    """Label an answer, and add the parameters and remarks of its question."""
    problem = given["problem"]
    if not of.work.networks:
        inputs = data.coords.get("inputs", np.array(problem.inputs))
        remarks = [*remarks, *input_remarks(np.ravel(inputs).tolist())]
    known = {k: given[k] for k in of.scalars if k in given and k not in data.coords}
    if "bulk" in known and known["bulk"] is None:
        known["bulk"] = bulk_of_networks(problem)
    about = {"title": of.title, "problem": format_problem(problem)} | data.attrs
    about |= {"remarks": "\n".join(remarks)} if remarks else {}
    data = label(data.assign_coords(known | total_samples(problem, data)))
    data.attrs = about
    return data


def _taking_several(ask: Callable[P, Any]) -> Callable[P, xr.Dataset]:
    """Let a question take several values of what it declares to be a question for each.

    Arrays and the like become lists, and numbers of NumPy those of Python.
    """
    form, of = signature(ask), declaration_of(ask)
    known = {one.name: one for one in of.takes}

    @wraps(ask)
    def answered(*args: P.args, **kwargs: P.kwargs) -> xr.Dataset:
        if "values" not in form.parameters:
            _check_names(of.name, kwargs, form.parameters)
        bound, several, faults = form.bind(*args, **kwargs), {}, list[Fault]()
        for name in filter(known.__contains__, list(bound.arguments)):
            value, takes = as_lists(bound.arguments[name]), known[name]
            bound.arguments[name] = whole_number(value) if takes.kind is int else value
            if takes.many is Many.APART and is_several(name, value):
                several[name] = value
            faults += _kind_faults(takes, value)
        raise_all(faults)
        if not several:
            return ask(*bound.args, **bound.kwargs)

        def one(chosen: dict[str, Any], report: Progress) -> xr.Dataset:
            told = {"progress": report} if "progress" in form.parameters else {}
            bound.arguments |= chosen | told
            return ask(*bound.args, **bound.kwargs)

        return answer_each(several, one, along=several)

    return answered


def _kind_faults(takes: Argument, value: Any) -> list[Fault]:
    """List a value that is no flag, or no name, where other values cannot even be checked."""
    if takes.kind is bool:
        return takes.faults(value)
    names = takes.kind is str and takes.many is Many.TOGETHER and value != takes.default
    wrong = names and not isinstance(value, str | list | Mapping)
    return [Fault(takes.name, value, "a name, or several")] * wrong


def _check_names(question: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse parameters that a question does not have, with what may have been meant.

    Raises
    ------
    TypeError
    """
    of_problems = {*Protocol.__dataclass_fields__, *SpikedFeatures.__dataclass_fields__}
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known)
            if name in of_problems:
                hint = ": give it to the problem, or several values of it to giantstep.sweep"
            raise TypeError(f"{question} has no parameter {name!r}{hint}")
