"""What has changed since the file of a figure was made."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import xarray as xr

from giantstep.validation import shown

# How many changes a sentence names.
_NAMED = 3


def what_changed(data: xr.Dataset, now: Mapping[str, Any]) -> str:
    """Name what a figure's file was made from, and what it would be made from now.

    Parameters
    ----------
    data : xarray.Dataset
        The figure's file.
    now : mapping
        Some of its parameters (`FigurePlan.parameters_of_file`), such as "figure".

    Returns
    -------
    str
        Empty if these are the same.
    """
    stated = json.loads(data.attrs.get("parameters", "{}"))
    found = [text for name in now for text in _changes(stated.get(name), now[name], name)]
    more = [f"and {len(found) - _NAMED} more"] if len(found) > _NAMED else []
    return "; ".join(found[:_NAMED] + more)


def _changes(made: Any, now: Any, place: str) -> Iterator[str]:
    if isinstance(made, dict) and isinstance(now, dict):
        for name in made | now:
            yield from _changes(made.get(name), now.get(name), f"{place}.{name}")
    elif made != now:
        was, is_now = ("not there" if value is None else shown(value) for value in (made, now))
        yield f"{place.removeprefix('figure.')} was {was}, and is {is_now}"
