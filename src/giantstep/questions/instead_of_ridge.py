"""What stands in place of a ridge: names of ways to choose it, and training times.

Gradient flow for a time t is a loss whose ridge is 1/t.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from giantstep.problems.domains import POSITIVE_RIDGE
from giantstep.problems.losses import FLOW, SQUARE
from giantstep.questions.arguments import BY, OPTIMAL
from giantstep.questions.choices import RIDGE, STOP_AT
from giantstep.questions.declaration import Question
from giantstep.questions.values import as_lists, read_numbers
from giantstep.theory.optima import CROSS_VALIDATION
from giantstep.validation import Fault, raise_all, refusal


def choose_ridge(given: dict[str, Any], of: Question) -> None:
    """Turn the name of a kind of cross-validation, in place of a ridge, into its best ridge.

    Raises
    ------
    InvalidParametersError
        For a name beside numbers.
    """
    ridges = as_lists(given.get(RIDGE))
    if isinstance(ridges, list):
        words = [x for x in ridges if isinstance(x, str)]
        if words and len(ridges) > 1:
            raise refusal(RIDGE, words[0], "alone, without numbers")
        given |= {RIDGE: words[0]} if words else {}
    word = given.get(RIDGE)
    if isinstance(word, str) and word in CROSS_VALIDATION and BY.name in [x.name for x in of.takes]:
        given |= {RIDGE: OPTIMAL, BY.name: word}


def times_to_ridges(given: dict[str, Any]) -> bool:
    """Replace training times among the arguments by ridges; return whether there are any.

    Parameters
    ----------
    given : dict
        Arguments by name.

    Raises
    ------
    InvalidParametersError
        For times beside a ridge or another loss, and for those out of range.
    """
    over, times = given.get("over", ()), given.get(STOP_AT)
    over = dict(over) if isinstance(over, Mapping) else dict.fromkeys(np.atleast_1d(over).tolist())
    if times is None:
        given.pop(STOP_AT, None)
        if STOP_AT not in over:
            return False
    losses = np.atleast_1d(given.get("loss", FLOW)).tolist()
    allowed = f"left out with {STOP_AT}, or {SQUARE}, whose gradient is followed"
    faults = [Fault("loss", one, allowed) for one in losses if one not in (SQUARE, FLOW)]
    given["loss"] = FLOW
    if times is not None:
        faults += [Fault(RIDGE, given[RIDGE], f"left out with {STOP_AT}")] if RIDGE in given else []
        # In its place, since parameters vary in their order.
        renamed = {RIDGE if name == STOP_AT else name: value for name, value in given.items()}
        given.clear()
        given.update(renamed | {RIDGE: _inverse(times, faults)})
    if STOP_AT in over:
        found = over.pop(STOP_AT)
        given["over"] = over | {RIDGE: None if found is None else _inverse(found, faults)}
    raise_all(faults)
    return True


def _inverse(times: Any, faults: list[Fault]) -> Any:
    """Return the ridges of times: one, several, or the best."""
    if isinstance(times, str) and times == OPTIMAL:
        return times
    ridges = [1 / x for x in read_numbers(STOP_AT, times, POSITIVE_RIDGE, faults)] or [1.0]
    return ridges if isinstance(as_lists(times), list) else ridges[0]


def ridges_to_times(data: xr.Dataset) -> xr.Dataset:
    """Write times in place of ridges, and of the best ridge."""
    renamed = {name: str(name).replace(RIDGE, STOP_AT) for name in data.variables}
    for name in {RIDGE, f"optimal_{RIDGE}"} & {*renamed}:
        times = [float(f"{x:.12g}") for x in np.ravel(1 / data[name].values)]
        data = data.assign({name: (data[name].dims, np.reshape(times, data[name].shape))})
    return data.rename({old: new for old, new in renamed.items() if old != new})
