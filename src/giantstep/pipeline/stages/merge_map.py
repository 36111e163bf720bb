"""One map of a figure."""

from __future__ import annotations

import xarray as xr

from giantstep.pipeline.stages.problem_parameters import problem_parameters
from giantstep.problems.protocol import Protocol


def merge_map(name: str, panel: str, problem: Protocol, found: xr.Dataset) -> xr.Dataset:
    """Put a map beside the parameters that do not vary over it.

    Parameters
    ----------
    name, panel : str
    problem : Protocol
    found : xarray.Dataset
        Result of the stage "maps".
    """
    found = found.drop_attrs()
    axes = [found[name].item() for name in ("x_parameter", "y_parameter")]
    fixed = problem_parameters(problem).drop_vars(axes, errors="ignore")
    return found.assign_coords(fixed.data_vars).assign_coords(curve=name, panel=panel)
