"""Answers to all combinations of the values of several flags, as one dataset."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np
import xarray as xr

from giantstep.problems.combinations import Values, combinations
from giantstep.problems.formatting import format_value
from giantstep.questions.progress import Progress, part, progress_bar
from giantstep.validation import Fault, raise_all
from giantstep.vocabulary import label

# So many combinations are named that a remark is on.
_PLACES = 5


def answer_each(
    values: Values,
    ask: Callable[[dict[str, Any], Progress], xr.Dataset],
    along: Container[str] = (),
) -> xr.Dataset:
    """Ask a question for all combinations of values; what varies becomes dimensions.

    Parameters
    ----------
    values : mapping of str to sequence
    ask : callable
        Takes one combination, and what to tell the share that is done.
    along : container of str
        What becomes a dimension even if it has one value.

    Returns
    -------
    xarray.Dataset
        The attribute `remarks` says which combination each remark is on.
    """
    several = {name: some for name, some in values.items() if len(some) != 1 or name in along}
    raise_all([Fault(name, [], "at least one value") for name, some in several.items() if not some])
    count = int(np.prod([len(some) for some in several.values()]))
    answers, remarks = [], dict[str, list[str]]()
    with progress_bar("giantstep") as report:
        for done, chosen in enumerate(combinations(values)):
            found = ask(chosen, part(report, done, count))
            report((done + 1) / count)
            answers.append(found)
            where = ", ".join(f"{name} {format_value(chosen[name])}" for name in several)
            for line in found.attrs.get("remarks", "").splitlines():
                remarks.setdefault(line, []).append(where)
    joined = label(_joined(answers, several))
    for name, variable in answers[0].variables.items():
        joined[name].attrs = variable.attrs
    attrs = answers[0].attrs
    joined.attrs = {name: attrs[name] for name in attrs if name != "remarks" or not several}
    if remarks:
        lines = (located(line, where, count) for line, where in remarks.items())
        joined.attrs["remarks"] = "\n".join(lines)
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
