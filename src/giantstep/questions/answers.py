"""Answers: datasets in the vocabulary, with the parameters and remarks that belong to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import xarray as xr

from giantstep.problems.formatting import format_problem
from giantstep.problems.problem import Problem
from giantstep.vocabulary import label

Variables = Mapping[str, Any]


def answer(
    data: xr.Dataset,
    title: str,
    problem: Problem,
    parameters: Mapping[str, Any],
    remarks: Iterable[str] = (),
) -> xr.Dataset:
    """Complete an answer.

    Parameters
    ----------
    data : xarray.Dataset
        Its variables must be named in `vocabulary.MEANINGS`.
    title : str
    problem : Protocol or SpikedFeatures
    parameters : mapping
        What else was asked for, one value each: scalar coordinates.
    remarks : iterable of str
        What to know before the answer is used.
    """
    data = label(data.assign_coords(parameters))
    data.attrs = {"title": title, "problem": format_problem(problem)}
    if found := "\n".join(remarks):
        data.attrs["remarks"] = found
    return data


def drop_fixed(data: xr.Dataset, fixed: Iterable[str]) -> xr.Dataset:
    """Turn dimensions of a single value that was given as a number into scalar coordinates."""
    return data.isel({name: 0 for name in fixed if name in data.dims})


def count_groups(data: xr.Dataset) -> xr.Dataset:
    """Count groups of neurons from 1, where there are several."""
    names = [name for name in ("group", "other_group") if name in data.dims]
    if not names:  # assigning none takes a third of a millisecond
        return data
    return data.assign_coords({name: range(1, data.sizes[name] + 1) for name in names})
