"""Questions and their answers: datasets in the vocabulary, with their parameters and remarks."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec

import numpy as np
import xarray as xr

from giantstep.problems.bulk_kind import bulk_of_networks
from giantstep.problems.formatting import format_problem
from giantstep.problems.overlaps import Variable
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.questions.arguments import BY
from giantstep.questions.checks import check_problem, choose_ridge, plain
from giantstep.questions.costs import check_task
from giantstep.questions.declaration import declaration_of, declare
from giantstep.questions.remarks import input_remarks
from giantstep.questions.stopping import ridges_to_times, times_to_ridges
from giantstep.questions.task import Task
from giantstep.suggestions import did_you_mean
from giantstep.validation import whole_number
from giantstep.vocabulary import label

P = ParamSpec("P")
# What a question returns: its answer, and what to know before the answer is used.
Result = xr.Dataset | tuple[xr.Dataset, Sequence[str]]


def question(
    title: str, *, command: str, text: str, **declared: Any
) -> Callable[[Callable[P, Result]], Callable[P, xr.Dataset]]:
    """Make a question of a function of a problem: its answer is labelled, and says its parameters.

    The problem is checked, and numbers of NumPy become those of Python. Variables must be named in
    the vocabulary.

    Parameters
    ----------
    title, command, text, **declared
        As in `declare`.
    """

    def decorate(ask: Callable[P, Result]) -> Callable[P, xr.Dataset]:
        declare(title, command=command, text=text, **declared)(ask)
        form, of = signature(ask), declaration_of(ask)
        names = {one.name for one in of.takes}
        whole = {one.name for one in of.takes if one.kind is int}

        @wraps(ask)
        def answered(*args: P.args, **kwargs: P.kwargs) -> xr.Dataset:
            if not of.varies:
                _check_names(of.name, kwargs, form.parameters)
            bound = form.bind(*args, **kwargs)
            if BY.name in names:
                choose_ridge(bound.arguments.get("values", bound.arguments))
            stopped = times_to_ridges(bound.arguments)
            bound.apply_defaults()
            given = bound.arguments
            check_problem(given["problem"], of.name, given)
            for name, value in given.items():
                given[name] = whole_number(plain(value)) if name in whole else plain(value)
            # Of one point, since reading the others follows the steps.
            task = Task("solve" if of.trains else of.name, given["problem"], {})
            check_task(task, given["max_hours"], given["max_memory"])
            result = ask(*bound.args, **bound.kwargs)
            data, remarks = result if isinstance(result, tuple) else (result, [])
            if not of.trains:
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

        return answered

    return decorate


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


def total_samples(problem: Problem, data: xr.Dataset) -> dict[str, xr.Variable]:
    """Count the samples that the steps and the readout see, over d, along with alpha.

    They are steps alpha0 + alpha, or alpha0 + alpha if all steps take the same batch.
    """
    if "alpha" not in data.coords:
        return {}
    alpha0, steps, reuse = (
        data.variables[name] if name in data.coords else getattr(problem, name, 0)
        for name in ("alpha0", "steps", "reuse_batch")
    )
    return {"total_samples": data.variables["alpha"] + alpha0 * steps ** (1 - reuse)}


def dataset(
    variables: Mapping[str, Variable], points: Mapping[str, Variable], fixed: Container[str]
) -> xr.Dataset:
    """Make a dataset over some points, in which what was given as one number is no dimension.

    To make dimensions and drop them takes three times as long.
    """

    def at_fixed(variable: Variable) -> tuple[list[str], Any]:
        dims, values = variable
        chosen = tuple(0 if dim in fixed else slice(None) for dim in dims)
        return [dim for dim in dims if dim not in fixed], values[chosen]

    return xr.Dataset(
        {name: at_fixed(variable) for name, variable in variables.items()},
        coords={name: at_fixed(variable) for name, variable in points.items()},
    )


def drop_fixed(data: xr.Dataset, fixed: Iterable[str]) -> xr.Dataset:
    """Turn dimensions of a single value that was given as a number into scalar coordinates."""
    return data.isel({name: 0 for name in fixed if name in data.dims})


def count_groups(data: xr.Dataset) -> xr.Dataset:
    """Count groups of neurons from 1, where there are several."""
    names = [name for name in ("group", "other_group") if name in data.dims]
    if not names:  # assigning none takes a third of a millisecond
        return data
    return data.assign_coords({name: range(1, data.sizes[name] + 1) for name in names})
