"""Answers to all combinations of the values of several parameters, as one dataset."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import xarray as xr

from giantstep.problems.combinations import Values, combinations
from giantstep.problems.formatting import format_value
from giantstep.questions.progress import Progress, part, progress_bar
from giantstep.vocabulary import label

# So many combinations are named that a remark is on.
_PLACES = 5


def answer_each(
    several: Values,
    ask: Callable[[dict[str, Any]], xr.Dataset],
    progress: Progress | None = None,
) -> xr.Dataset:
    """Ask a question for all combinations of values, which become dimensions.

    Parameters
    ----------
    several : mapping of str to sequence
    ask : callable
        Takes one combination, and with it as `progress` what to tell the share that is done.
    progress : callable, optional
        As in `progress_bar`.

    Returns
    -------
    xarray.Dataset
        The attribute `remarks` says which combination each remark is on.
    """
    count = math.prod(map(len, several.values()))
    answers, remarks = [], dict[str, list[str]]()
    with progress_bar("giantstep", progress) as report:
        for done, chosen in enumerate(combinations(several)):
            found = ask(chosen | {"progress": part(report, done, count)})
            report((done + 1) / count)
            if "eigenvalue" in found.dims:  # each spectrum has eigenvalues of its own
                points = range(1, found.sizes["eigenvalue"] + 1)
                found = found.assign_coords(point=("eigenvalue", points))
                found = found.swap_dims(eigenvalue="point")
            answers.append(found)
            where = ", ".join(f"{name} {format_value(value)}" for name, value in chosen.items())
            for line in found.attrs.get("remarks", "").splitlines():
                remarks.setdefault(line, []).append(where)
    joined = label(_joined(answers, several))
    for name, variable in answers[0].variables.items():
        joined[name].attrs = variable.attrs
    lines = [located(line, where, count) for line, where in remarks.items()]
    joined.attrs = answers[0].attrs | ({"remarks": "\n".join(lines)} if lines else {})
    return joined


def located(line: str, where: list[str], count: int) -> str:
    """Say before a remark on which combinations it is, unless it is on all."""
    if len(where) == count:
        return line
    further = f"; {len(where) - _PLACES} more" if len(where) > _PLACES else ""
    return f"{'; '.join(where[:_PLACES])}{further}: {line}"


def _joined(answers: list[xr.Dataset], several: Values) -> xr.Dataset:
    """Join answers along new dimensions, the last one first."""
    for name, values in reversed(list(several.items())):
        size = len(values)
        starts = range(0, len(answers), size)
        answers = [_along(name, values, answers[start : start + size]) for start in starts]
    return answers[0]


def _along(name: str, values: Sequence[Any], answers: Sequence[xr.Dataset]) -> xr.Dataset:
    named = [one.assign_coords({name: value}) for value, one in zip(values, answers, strict=True)]
    everywhere = [set(answer.coords) for answer in named]
    return xr.concat(
        named,
        name,
        data_vars="all",
        # Not those that only some have, such as the steps of several.
        coords=sorted(set.intersection(*everywhere) - set(named[0].dims), key=str),
        compat="equals",
        join="outer",  # of outliers and edges, of which there may be different numbers
        combine_attrs="override",
    )
