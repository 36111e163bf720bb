"""Answers to all combinations of the values of several parameters, as one dataset."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import xarray as xr

from giantstep.problems.combinations import Values, combinations
from giantstep.problems.formatting import format_value
from giantstep.questions.progress import Progress, part, progress_bar

# What a question returns: its answer, and what to know before the answer is used.
Result = xr.Dataset | tuple[xr.Dataset, Sequence[str]]
# So many combinations are named that a remark is on.
_PLACES = 5


def answer_each(
    several: Values,
    ask: Callable[[dict[str, Any]], Result],
    progress: Progress | None = None,
) -> tuple[xr.Dataset, list[str]]:
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
    answer : xarray.Dataset
    remarks : list of str
        With the combinations that they are on, unless they are on all.
    """
    count = math.prod(map(len, several.values()))
    answers, remarks = [], dict[str, list[str]]()
    with progress_bar(progress) as report:
        for done, chosen in enumerate(combinations(several)):
            result = ask(chosen | {"progress": part(report, done, count)})
            found, said = result if isinstance(result, tuple) else (result, [])
            report((done + 1) / count)
            if several and "eigenvalue" in found.dims:  # each spectrum has eigenvalues of its own
                points = range(1, found.sizes["eigenvalue"] + 1)
                found = found.assign_coords(point=("eigenvalue", points))
                found = found.swap_dims(eigenvalue="point")
            answers.append(found)
            where = ", ".join(f"{name} {format_value(value)}" for name, value in chosen.items())
            for line in dict.fromkeys(said):
                remarks.setdefault(line, []).append(where)
    lines = [_located(line, where, count) for line, where in remarks.items()]
    return _joined(answers, several), lines


def _located(line: str, where: list[str], count: int) -> str:
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
    texts = [format_value(x) if isinstance(x, list | tuple) else x for x in values]
    named = [one.assign_coords({name: text}) for text, one in zip(texts, answers, strict=True)]
    everywhere = set.intersection(*(set(one.coords) for one in named))
    return xr.concat(
        named,
        name,
        data_vars="all",
        # Not those that only some have, such as the steps of several.
        coords=sorted(everywhere - set(named[0].dims), key=str),
        compat="equals",
        join="outer",  # of outliers and edges, of which there may be different numbers
        combine_attrs="override",
    )
