"""Parts of a merged Dataset: the curves of a panel, or those with given values."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr


def panel_data(data: xr.Dataset, panel: str) -> xr.Dataset:
    """Select the curves of one panel."""
    return select(data, panel=panel)


def select(data: xr.Dataset, **values: Any) -> xr.Dataset:
    """Select the curves that have the given values."""
    chosen = [data[name].values == value for name, value in values.items()]
    return data.isel(curve=np.flatnonzero(np.all(chosen, axis=0)))


def smallest_ridge(data: xr.Dataset) -> xr.Dataset:
    """Select the curves with the smallest ridge."""
    return select(data, ridge=data["ridge"].values.min())


def distinct(data: xr.Dataset, name: str) -> list[Any]:
    """List the different values of a coordinate of the curves, in the order of the curves."""
    return list(dict.fromkeys(data[name].values.tolist()))


def relative_gap(data: xr.Dataset, theory: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Compare the simulated test error with the theory.

    Returns
    -------
    gap, stderr : xarray.DataArray
        Simulated mean over theory, less one, and its standard error, in percent.
    """
    mean, stderr = (data[f"simulated_test_error_{part}"] / theory for part in ("mean", "stderr"))
    return 100 * (mean - 1), 100 * stderr
