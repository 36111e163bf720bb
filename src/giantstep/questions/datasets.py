"""Datasets of answers: which dimensions they have, and what is counted along them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from giantstep.problems.problem import Problem


def total_samples(problem: Problem, coords: Mapping[Any, xr.Variable]) -> dict[str, xr.Variable]:
    """Count the samples that the steps and the readout see, over d, along with alpha.

    They are steps alpha0 + alpha, or alpha0 + alpha if all steps take the same batch.
    """
    if "alpha" not in coords:
        return {}
    alpha0, steps, reuse = (
        coords[name] if name in coords else getattr(problem, name, 0)
        for name in ("alpha0", "steps", "reuse_batch")
    )
    return {"total_samples": coords["alpha"] + _mean_batch(alpha0) * steps ** (1 - reuse)}


def _mean_batch(alpha0: Any) -> Any:
    """Return the mean over the steps, of which coordinates hold one number for each as a text."""
    if isinstance(alpha0, tuple):
        return np.mean(alpha0)
    if isinstance(alpha0, xr.Variable) and alpha0.dtype.kind in "OU":
        each = [np.mean([float(x) for x in of.split("/")]) for of in alpha0.values.ravel()]
        return alpha0.copy(data=np.reshape(each, alpha0.shape))
    return alpha0


def drop_fixed(data: xr.Dataset, **given: Any) -> xr.Dataset:
    """Turn dimensions of a single value that was given as a number into scalar coordinates."""
    fixed = [name for name, value in given.items() if np.ndim(value) == 0]
    return data.isel({name: 0 for name in fixed if name in data.dims})


def count_groups(data: xr.Dataset) -> xr.Dataset:
    """Count groups of neurons from 1, where there are several."""
    names = [name for name in ("group", "other_group") if name in data.dims]
    counts = {name: range(1, data.sizes[name] + 1) for name in names}
    return data.assign_coords(counts) if counts else data  # to assign none takes half a millisecond
