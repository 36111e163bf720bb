"""Datasets of answers: which dimensions they have, and what is counted along them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from giantstep.problems.formatting import format_value
from giantstep.problems.problem import Problem


def total_samples(problem: Problem, coords: Mapping[Any, xr.Variable]) -> dict[str, xr.Variable]:
    """Count the samples that the steps and the readout see, over d, along with alpha.

    They are steps alpha0 + alpha, or alpha0 + alpha if all steps take the same batch.
    """
    if "alpha" not in coords:
        return {}
    steps = coords.get("steps", getattr(problem, "steps", 0))
    reuse = coords.get("reuse_batch", getattr(problem, "reuse_batch", 0))
    # Batches of different sizes are written as a text.
    alpha0 = coords.get("alpha0", format_value(getattr(problem, "alpha0", 0)))
    mean = np.vectorize(lambda text: np.mean([*map(float, str(text).split("/"))]))
    batches = xr.apply_ufunc(mean, alpha0) * steps ** (1 - reuse)
    return {"total_samples": coords["alpha"] + batches}


def drop_fixed(data: xr.Dataset, given: Mapping[str, Any]) -> xr.Dataset:
    """Turn dimensions of a single value that was given as a number into scalar coordinates."""
    fixed = [name for name, x in given.items() if data.sizes.get(name) == 1 and np.ndim(x) == 0]
    return data.isel(dict.fromkeys(fixed, 0)) if fixed else data


def numbered(data: xr.Dataset, dims: Sequence[str] = ("group", "other_group")) -> xr.Dataset:
    """Count places along some dimensions from 1; by default those of groups."""
    counts = {name: range(1, data.sizes[name] + 1) for name in dims if name in data.dims}
    return data.assign_coords(counts) if counts else data  # to assign none takes half a millisecond
