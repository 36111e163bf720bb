"""How results are arranged in datasets: groups of neurons, and network replicates.

Every simulation's key covers this module, so what needs more than arrays is elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import xarray as xr
from numpy.typing import NDArray

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


def join_networks(replicates: Sequence[xr.Dataset]) -> xr.Dataset:
    """Put simulations of different networks together, in the order of the networks."""
    bare = [one.drop_attrs() for one in replicates]
    whole = xr.concat(bare, "network", data_vars="all", join="exact", combine_attrs="drop")
    return whole.sortby("network")
