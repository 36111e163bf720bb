"""Questions: functions whose answers are labelled datasets, with parameters and remarks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec

import numpy as np
import xarray as xr

from giantstep.problems.bulk_kind import bulk_of_networks
from giantstep.problems.formatting import format_problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.questions.arguments import BY, Many
from giantstep.questions.axes import plain
from giantstep.questions.checks import check_problem
from giantstep.questions.costs import check_one_point
from giantstep.questions.datasets import total_samples
from giantstep.questions.declaration import declaration_of, declare
from giantstep.questions.instead_of_ridge import choose_ridge, ridges_to_times, times_to_ridges
from giantstep.questions.product import answer_each
from giantstep.questions.progress import Progress
from giantstep.questions.remarks import input_remarks
from giantstep.questions.values import as_lists, is_several
from giantstep.suggestions import did_you_mean
from giantstep.validation import whole_number
from giantstep.vocabulary import label

P = ParamSpec("P")
# What a question returns: its answer, and what to know before the answer is used.
Result = xr.Dataset | tuple[xr.Dataset, Sequence[str]]


def question(
    title: str, **declared: Any
) -> Callable[[Callable[P, Result]], Callable[P, xr.Dataset]]:
    """Make a question of a function of a problem: its answer is labelled, and says its parameters.

    The problem is checked. Variables must be named in the vocabulary.

    Parameters
    ----------
    title, **declared
        As in `declare`.
    """

    def decorate(ask: Callable[P, Result]) -> Callable[P, xr.Dataset]:
        declare(title, **declared)(ask)
        form, of = signature(ask), declaration_of(ask)
        names = {one.name for one in of.takes}

        @wraps(ask)
        def answered(*args: P.args, **kwargs: P.kwargs) -> xr.Dataset:
            bound = form.bind(*args, **kwargs)
            if BY.name in names:
                choose_ridge(bound.arguments.get("values", bound.arguments))
            stopped = times_to_ridges(bound.arguments)
            bound.apply_defaults()
            given = bound.arguments
            check_problem(given["problem"], of, given)
            check_one_point(of, given["problem"], given)  # reading the others follows the steps
            result = ask(*bound.args, **bound.kwargs)
            data, remarks = result if isinstance(result, tuple) else (result, [])
            if not of.work.networks:
                inputs = data.coords.get("inputs", np.array(given["problem"].inputs))
                remarks = [*remarks, *input_remarks(np.ravel(inputs).tolist())]
            known = {k: given[k] for k in of.scalars if k in given and k not in data.coords}
            if "bulk" in known and known["bulk"] is None:
                known["bulk"] = bulk_of_networks(given["problem"])
            attrs = {"title": title, "problem": format_problem(given["problem"])} | data.attrs
            data = ridges_to_times(data) if stopped else data
            data = label(data.assign_coords(known | total_samples(given["problem"], data)))
            data.attrs = attrs | ({"remarks": "\n".join(remarks)} if remarks else {})
            return data

        return taking_several(answered)

    return decorate


def taking_several(ask: Callable[P, xr.Dataset]) -> Callable[P, xr.Dataset]:
    """Let a question take several values of what it declares to be a question for each.

    Numbers of NumPy become those of Python.
    """
    form, of = signature(ask), declaration_of(ask)
    known = {one.name: one for one in of.takes}

    @wraps(ask)
    def answered(*args: P.args, **kwargs: P.kwargs) -> xr.Dataset:
        if not of.varies:
            _check_names(of.name, kwargs, form.parameters)
        bound = form.bind(*args, **kwargs)
        several = {}
        for name, value in bound.arguments.items():
            if name in known and known[name].kind is int:
                bound.arguments[name] = whole_number(plain(value))
            elif name in known:
                bound.arguments[name] = plain(value)
            if name in known and known[name].many is Many.APART:
                values = as_lists(value)
                if is_several(name, values):
                    several[name] = values
        if not several:
            return ask(*bound.args, **bound.kwargs)

        def one(chosen: dict[str, Any], report: Progress) -> xr.Dataset:
            bound.arguments |= chosen | (
                {"progress": report} if "progress" in form.parameters else {}
            )
            return ask(*bound.args, **bound.kwargs)

        return answer_each(several, one, along=several)

    return answered


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
