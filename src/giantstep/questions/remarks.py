"""Remarks on answers: points that failed, what is left out, and optima at an edge."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.inputs import GAUSSIAN, mixture_mean
from giantstep.problems.losses import FLOW
from giantstep.theory.readout.status import Status
from giantstep.theory.reliable_dimension import RELIABLE

if TYPE_CHECKING:
    import xarray as xr

# If the limit d -> infinity is reliable only from a larger dimension on, it gets a remark.
SMALL_DIMENSION = 200
# Variables of inputs with a covariance.
OF_COVARIANCE = "chi_2", "chi_3", "chi_rows", "effective_dimension"
# The largest chi at which the theory is quantitative.
_CHAOS = 0.3
# The least effective dimension at which norms of inputs vary little.
_LEAST_DIMENSION = 40
# What remarks say; and what the theory leaves out, for each correction.
TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_LEFT_OUT = TEXTS["left_out"]
CORRECTIONS = tuple(f"reliability_{name}" for name in _LEFT_OUT)


def at_points(mask: xr.DataArray) -> str:
    """Say at how many points something holds, and between which values of the coordinates.

    Examples
    --------
    >>> import xarray as xr
    >>> mask = xr.DataArray([True, True, False], {"alpha": [0.1, 0.3, 1.0]})
    >>> at_points(mask)
    'At 2 of 3 points (alpha 0.1 to 0.3)'
    """
    count = int(mask.values.sum())
    if count == mask.size:
        return "Here" if count == 1 else f"At all {count} points"
    where = []
    for name in mask.dims:
        holds = mask.any([dim for dim in mask.dims if dim != name]).values
        if name in mask.coords and not holds.all():
            values, of_numbers = mask[name].values[holds], mask[name].dtype.kind in "bif"
            ends = [f"{x:.4g}" for x in (values.min(), values.max())] if of_numbers else values
            where.append(f"{name} {(' to ' if of_numbers else ', ').join(dict.fromkeys(ends))}")
    return f"At {count} of {mask.size} points" + f" ({', '.join(where)})" * bool(where)


def remark_where(mask: xr.DataArray, name: str, *values: object) -> list[str]:
    """Make the named remark on the points at which a mask holds, if there are any."""
    return [f"{at_points(mask)} {TEXTS[name].format(*values)}"] if mask.values.any() else []


def failure_remarks(status: xr.DataArray) -> list[str]:
    """Say where points failed, and what to do about them."""
    failed = sorted({*map(Status, np.unique(status.values))} - {Status.CONVERGED})
    return [f"{at_points(status == one)}: {one.label}. {one.advice}" for one in failed]


def input_remarks(inputs: Iterable[str]) -> list[str]:
    """Remark that the theory does not depend on the distribution of the inputs."""
    others = ", ".join(x for x in inputs if x != GAUSSIAN and mixture_mean(x) is None)
    return [TEXTS["inputs"].format(others)] if others else []


def edge_remarks(on_edge: xr.DataArray, what: str, candidates: Array) -> list[str]:
    """Say where an optimum lies at an end of the range that was searched."""
    return remark_where(on_edge, "edge", what, candidates[0], candidates[-1])


def named_ridge(loss: str) -> str:
    """Name the best ridge in a remark; that of gradient flow is one over the best time."""
    return "best ridge (one over the best time)" if loss == FLOW else "best ridge"


def dimension_remarks(dimensions: xr.DataArray) -> list[str]:
    """Remark from which dimension on the limit d -> infinity is reliable, and where."""
    values = dimensions.values
    if not np.any(values > SMALL_DIMENSION):
        return []
    later = (values > SMALL_DIMENSION) & (values < np.inf)
    largest = float(f"{values[later].max(initial=0):.2g}")
    never, small = (dimensions.copy(data=mask) for mask in (values == np.inf, later))
    remarks = remark_where(never, "never_reliable", RELIABLE)
    return remarks + remark_where(small, "small_dimension", RELIABLE, largest)


def reliability_remarks(answer: xr.Dataset) -> list[str]:
    """Say where the theory leaves out more than it should, and the main reason."""
    values = answer.variables["reliability"].values
    if not np.any(values > RELIABLE):
        return []
    doubtful, worst = answer["reliability"] > RELIABLE, int(np.nanargmax(values))
    main = max(_LEFT_OUT, key=lambda name: answer[f"reliability_{name}"].values.flat[worst])
    most = values.flat[worst]
    return remark_where(doubtful, "reliability", RELIABLE, most, _LEFT_OUT[main])


def covariance_remarks(answer: xr.Dataset) -> list[str]:
    """Say where the leading directions of the inputs make the theory too pessimistic."""
    if "chi_2" not in answer:
        return []
    chi = answer[[*OF_COVARIANCE[:-1]]].to_dataarray().max("variable")
    few = answer["effective_dimension"] < _LEAST_DIMENSION
    return remark_where(few, "norms", _LEAST_DIMENSION) + remark_where(chi >= _CHAOS, "covariance")
