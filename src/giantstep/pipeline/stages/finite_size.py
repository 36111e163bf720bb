"""Names of what belongs to the theory at finite dimension, beside that of the limit d → ∞."""

from __future__ import annotations

import re

import xarray as xr

PREFIX = "finite_size_"
# What precedes the name of a quantity in the names of what is derived from it.
_DERIVED = re.compile("(?:(?:largest_|mean_)?z_score_|simulated_)?")


def finite_size_name(name: str) -> str:
    """Name a variable of the finite dimension after that of the limit.

    Examples
    --------
    >>> finite_size_name("test_error"), finite_size_name("z_score_test_error")
    ('finite_size_test_error', 'z_score_finite_size_test_error')
    """
    return _DERIVED.sub(lambda found: found[0] + PREFIX, name, count=1)


def name_finite_size(data: xr.Dataset) -> xr.Dataset:
    """Name all variables of a dataset as those of the finite dimension."""
    return data.rename({name: finite_size_name(str(name)) for name in data.data_vars})


def is_finite_size(data: xr.Dataset) -> bool:
    """Check whether a theory is that of a finite dimension."""
    return finite_size_name("test_error") in data


def as_limit(data: xr.Dataset) -> xr.Dataset:
    """Name the variables of a theory at finite dimension as if they were those of the limit."""
    return data.rename({name: str(name).removeprefix(PREFIX) for name in data.data_vars})
