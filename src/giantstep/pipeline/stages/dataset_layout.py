"""How results are arranged in datasets: scalars, groups of neurons, network replicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

import xarray as xr
from numpy.typing import NDArray

from giantstep.problems.formatting import format_vocabulary
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.recovery import Recovery
from giantstep.problems.spiked_features import SpikedFeatures

# Parameters that each group of neurons has of its own.
GROUP_PARAMETERS = dict.fromkeys(
    ("bulk_variance", "spike_strength", "fraction", "bias"), ("group",)
)


def by_groups(
    dims: tuple[str, ...], values: NDArray[Any], further: tuple[str, ...]
) -> tuple[tuple[str, ...], NDArray[Any]]:
    """Name an array's dimensions, and drop those of a single group of neurons."""
    if "group" in further and values.shape[-1] == 1:
        return dims, values.reshape(values.shape[: len(dims)])
    return (*dims, *further), values


def problem_parameters(problem: Problem | Recovery) -> xr.Dataset:
    """Arrange a problem's own parameters as scalars."""
    return _scalars(_parameters(problem))


def features_parameters(problem: Problem, features: SpikedFeatures) -> xr.Dataset:
    """Arrange a problem's parameters and those of its equivalent features as scalars."""
    return _scalars(_parameters(problem) | asdict(features))


def _parameters(problem: Problem | Recovery) -> dict[str, Any]:
    values = asdict(problem)
    if isinstance(problem, Protocol):
        values["readout"] = format_vocabulary(problem.readout)
    return values


def _scalars(values: dict[str, Any]) -> xr.Dataset:
    """Arrange parameters: a number for one group of neurons, a vector for several."""
    return xr.Dataset({name: _per_group(value) for name, value in values.items()})


def _per_group(value: Any) -> tuple[tuple[str, ...], Any]:
    if isinstance(value, bool):
        return (), int(value)
    if not isinstance(value, tuple):
        return (), value
    return ((), value[0]) if len(value) == 1 else (("group",), list(value))


def read_features(parameters: xr.Dataset) -> SpikedFeatures:
    """Read spiked features back from `features_parameters`."""
    names = [field.name for field in fields(SpikedFeatures)]
    return SpikedFeatures(**{name: parameters[name].values.tolist() for name in names})


def join_networks(replicates: Sequence[xr.Dataset]) -> xr.Dataset:
    """Put simulations of different networks together, in the order of the networks."""
    bare = [one.drop_attrs() for one in replicates]
    whole = xr.concat(bare, "network", data_vars="all", join="exact", combine_attrs="drop")
    return whole.sortby("network")
