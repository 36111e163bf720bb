"""The parameters of problems, arranged as datasets, and read back from them."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import numpy as np
import xarray as xr

from giantstep.problems.formatting import format_vocabulary
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.recovery import Recovery
from giantstep.problems.spiked_features import SpikedFeatures


def problem_parameters(problem: Problem | Recovery) -> xr.Dataset:
    """Arrange a problem's own parameters as scalars."""
    return _scalars(_parameters(problem))


def features_parameters(problem: Problem, features: SpikedFeatures) -> xr.Dataset:
    """Arrange a problem's parameters and those of its equivalent features as scalars.

    For a teacher, `alignment` is the overlap with the span of its directions; `alignments` has that
    with each.
    """
    if not isinstance(features.alignment, tuple):
        return _scalars(_parameters(problem) | asdict(features))
    span = {"alignment": features.overlap}
    return _scalars(_parameters(problem) | asdict(features) | span).assign(
        alignments=("direction", features.alignments),
        direction=np.arange(1, features.alignments.size + 1),
    )


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
    values = {name: parameters[name].values.tolist() for name in names}
    if "alignments" in parameters:
        values["alignment"] = tuple(parameters["alignments"].values.tolist())
    return SpikedFeatures(**values)
