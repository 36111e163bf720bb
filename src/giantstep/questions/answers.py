"""Answers: datasets in the vocabulary, with the parameters and remarks that belong to them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any

import xarray as xr
from numpy.typing import NDArray

from giantstep.problems.formatting import format_problem
from giantstep.problems.problem import Problem
from giantstep.vocabulary import label

Variables = Mapping[str, Any]
# Dimensions and values.
Variable = tuple[tuple[str, ...], NDArray[Any]]


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
