"""Answers to all combinations of the values of several parameters, as one dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
import xarray as xr

from giantstep.problems.combinations import Values, combinations
from giantstep.problems.formatting import format_value, written
from giantstep.progress import Progress, part, progress_bar
from giantstep.questions.datasets import numbered
from giantstep.theory.readout.status import Status
from giantstep.validation import Fault, raise_all
from giantstep.validation import InvalidParametersError as Refused

T = TypeVar("T")
# What a question returns: an answer, perhaps with remarks on its use.
Result = xr.Dataset | tuple[xr.Dataset, Sequence[str]]
# What answers a question that is checked, given a function to which it reports.
Ask = Callable[[Progress], Result]
# At most this many combinations are listed in a remark, and so many reasons of refusals.
_PLACES, _REASONS = 5, 3


def answer_each(
    several: Values,
    prepare: Callable[[dict[str, Any]], Ask],
    progress: Progress | None = None,
) -> tuple[xr.Dataset, list[str]]:
    """Ask a question for all combinations of values, which become dimensions.

    Those that are refused hold NaN, with the reason in a remark.

    Parameters
    ----------
    several : mapping of str to sequence
    prepare : callable
        Checks one combination, and all are checked before any is answered. Returns a function that
        answers it, given a function to which it reports the share that is done.
    progress : callable, optional
        As in `progress_bar`.

    Returns
    -------
    answer : xarray.Dataset
    remarks : list of str
        Each begins with its combinations, unless it is about all.

    Raises
    ------
    InvalidParametersError
        With the faults of values that are valid in no combination.
    """
    raise_all([Fault(name, [], "at least one value") for name in several if not several[name]])
    chosen = list(combinations(several))
    asks = [_attempt(partial(prepare, one)) for one in chosen]
    _refuse(several, asks)
    results: list[Result | Refused] = []
    with progress_bar(progress) as report:
        for done, ask in enumerate(asks):
            own = part(report, done, len(asks))
            results.append(ask if isinstance(ask, Refused) else _attempt(partial(ask, own)))
            report((done + 1) / len(asks))
    reasons = _refuse(several, results)
    answers, remarks = list[xr.Dataset | Refused](), dict[str, list[str]]()
    for one, result in zip(chosen, results, strict=True):
        found, of_one = result if isinstance(result, tuple) else (result, [])
        answers.append(found)
        where = ", ".join(f"{name} {format_value(value)}" for name, value in one.items())
        for line in dict.fromkeys(of_one):
            remarks.setdefault(line, []).append(where)
    lines = [_located(line, where, len(asks)) for line, where in remarks.items()]
    return _joined(answers, several), lines + [f"Refused: {reason}" for reason in reasons]


def _attempt(ask: Callable[[], T]) -> T | Refused:
    """Call what may refuse."""
    try:
        return ask()
    except Refused as error:
        return error


def _refuse(several: Values, made: Sequence[Any]) -> list[str]:
    """Refuse values that are valid in no combination; return some reasons of other refusals.

    Raises
    ------
    InvalidParametersError
    """
    places = combinations({name: range(len(values)) for name, values in several.items()})
    both = list(zip(places, made, strict=True))
    valid = {item for place, one in both if not isinstance(one, Refused) for item in place.items()}
    refused = [(place, one.faults) for place, one in both if isinstance(one, Refused)]
    alone = [faults for place, faults in refused if not place or place.items() - valid]
    raise_all([fault for faults in alone for fault in faults])
    return list(dict.fromkeys(str(fault) for _, faults in refused for fault in faults))[:_REASONS]


def _located(line: str, where: list[str], count: int) -> str:
    """Put before a remark the combinations that it is about, unless it is about all."""
    if len(where) == count:
        return line
    further = f"; {len(where) - _PLACES} more" if len(where) > _PLACES else ""
    return f"{'; '.join(where[:_PLACES])}{further}: {line}"


def _joined(answers: Sequence[xr.Dataset | Refused], several: Values) -> xr.Dataset:
    """Join answers along new dimensions, the last one first; some are refused, but not all."""
    like = next(one for one in answers if isinstance(one, xr.Dataset))
    joined = [one if isinstance(one, xr.Dataset) else _blank(like) for one in answers]
    for name, values in reversed(list(several.items())):
        starts = range(0, len(joined), len(values))
        joined = [_along(name, values, joined[start : start + len(values)]) for start in starts]
    return joined[0]


def _blank(like: xr.Dataset) -> xr.Dataset:
    """Make the answer of a combination that is refused, from that of another."""
    kept = {name: x for name, x in like.variables.items() if name not in like.dims}
    numbers = {name: x for name, x in kept.items() if x.dtype.kind in "bif"}
    blank = {k: xr.full_like(x, np.nan if x.dtype.kind == "f" else 0) for k, x in numbers.items()}
    if "status" in blank:
        blank["status"][...] = Status.REFUSED
    return like.assign(blank)


def _along(name: str, values: Sequence[Any], answers: Sequence[xr.Dataset]) -> xr.Dataset:
    if "eigenvalue" in answers[0].dims:  # each spectrum has eigenvalues of its own
        answers = [numbered(one.swap_dims(eigenvalue="point"), ["point"]) for one in answers]
    named = [one.assign_coords({name: written(x)}) for x, one in zip(values, answers, strict=True)]
    # Not those that only some have, such as the steps of several.
    everywhere = set.intersection(*(set(one.coords) for one in named)) - set(named[0].dims)
    coords = sorted(everywhere, key=str)
    # There may be different numbers of outliers and edges: hence the outer join.
    return xr.concat(
        named, name, "all", coords, compat="equals", join="outer", combine_attrs="override"
    )
