"""One map of a figure."""

from __future__ import annotations

import xarray as xr

from giantstep.pipeline.planning.tasks import Curve
from giantstep.pipeline.stages.problem_parameters import problem_parameters


def merge_map(curve: Curve, found: xr.Dataset) -> xr.Dataset:
    """Put a map beside the parameters that do not vary over it.

    Parameters
    ----------
    curve : Curve
    found : xarray.Dataset
        Result of the stage "maps".
    """
    axes = [found[name].item() for name in ("x_parameter", "y_parameter")]
    fixed = problem_parameters(curve.problem).drop_vars(axes, errors="ignore")
    return found.assign_coords(fixed.data_vars).assign_coords(curve=curve.name, panel=curve.panel)
