"""Parts of a merged Dataset: curves of a panel, or with given values; theory, limit or finite."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr


def panel_data(data: xr.Dataset, panel: str) -> xr.Dataset:
    """Select the curves of one panel."""
    return select(data, panel=panel)


def select(data: xr.Dataset, **values: Any) -> xr.Dataset:
    """Select the curves that have the given values."""
    fits = [data[name].values == value for name, value in values.items()]
    return data.isel(curve=np.flatnonzero(np.all(fits, axis=0)))


def in_limit(data: xr.Dataset) -> xr.Dataset:
    """Select the theory for d -> infinity, or that at a dimension if there is no other."""
    return data.isel(theory=0, drop=True) if "theory" in data.dims else data


def at_dimension(data: xr.Dataset, name: str) -> xr.DataArray | None:
    """Select the theory of a quantity at the dimension of the simulations, if there is one."""
    if data.sizes.get("theory", 1) == 1 or name not in data:
        return None
    values = data[name].sel(theory="finite", drop=True)
    return values if values.notnull().any() else None


def simulated(data: xr.Dataset, name: str) -> tuple[xr.DataArray, xr.DataArray]:
    """Select the simulated mean of a quantity, and its standard error.

    Of networks at the best ridge, those at that of their own dimension, where it is known.
    """
    names = [f"simulated_{name}_{part}" for part in ("mean", "stderr")]
    found = data[names]
    if "theory" in found.dims:
        found = found.isel(theory=-1, drop=True).fillna(found.isel(theory=0, drop=True))
    return found[names[0]], found[names[1]]


def smallest_ridge(data: xr.Dataset) -> xr.Dataset:
    """Select the curves with the smallest ridge."""
    return select(data, ridge=data["ridge"].values.min())


def distinct(data: xr.Dataset, name: str) -> list[Any]:
    """List the different values of a coordinate of the curves, in the order of the curves."""
    return list(dict.fromkeys(data[name].values.tolist()))


def relative_gap(data: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """Compare the simulated test error with the theory.

    Returns
    -------
    gap, stderr : xarray.DataArray
        Simulated mean over theory, less one, and its standard error, in percent.
    """
    (mean, stderr), theory = simulated(data, "test_error"), data["test_error"]
    return 100 * (mean / theory - 1), 100 * stderr / theory
