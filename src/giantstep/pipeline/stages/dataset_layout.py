"""How results are arranged in datasets: groups of neurons, and network replicates.

Every simulation's key covers this module, so what needs more than arrays is elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import xarray as xr

# Parameters that each group of neurons has of its own.
GROUP_PARAMETERS = dict.fromkeys(
    ("bulk_variance", "spike_strength", "fraction", "bias"), ("group",)
)


def join_networks(replicates: Sequence[xr.Dataset]) -> xr.Dataset:
    """Put simulations of different networks together, in the order of the networks."""
    bare = [one.drop_attrs() for one in replicates]
    whole = xr.concat(bare, "network", data_vars="all", join="exact", combine_attrs="drop")
    return whole.sortby("network")
