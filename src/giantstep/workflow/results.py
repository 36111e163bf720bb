"""What has been computed of a figure, as merging reads it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import xarray as xr

from giantstep.workflow import store
from giantstep.workflow.figure_plan import FigurePlan


def read_results(
    plan: FigurePlan, solved: Iterable[str], shards: Collection[str]
) -> dict[str, dict[str, xr.Dataset]]:
    """Read all results of a figure: of each curve by role.

    Parameters
    ----------
    plan : FigurePlan
    solved : iterable of str
        The files of its parameters and its theory.
    shards : collection of str
        Files of networks.

    Raises
    ------
    DamagedFileError
    """
    results: dict[str, dict[str, xr.Dataset]] = {c.name: {} for c in plan.curves}
    for path in solved:
        for group, data in store.read_groups(path).items():
            curve, _, role = group.rpartition("/")
            results[curve][role] = data
    for (name, role), tasks in plan.networks.items():
        results[name][role] = join_networks([store.read(path) for path in shards if path in tasks])
    return results


def check_made_from(plan: FigurePlan, data: xr.Dataset) -> None:
    """Refuse a figure's merged file that was made from other curves, sizes or code than the plan's.

    Raises
    ------
    DamagedFileError
    """
    if data.attrs.get("source", "") != plan.source:
        text = "was not made from this configuration by this code: run the workflow"
        own = "or name its overlay; follow the README.md in an archive"
        raise store.DamagedFileError(Path(plan.merged), f"{text}, {own}")


def join_networks(shards: Sequence[xr.Dataset]) -> xr.Dataset:
    """Put simulations of different networks together, in the order of the networks."""
    bare = [shard.drop_attrs() for shard in shards]
    whole = xr.concat(bare, "network", data_vars="all", join="exact").sortby("network")
    libraries = sorted({shard.attrs["libraries"] for shard in shards})
    return whole.assign_attrs(shards[0].attrs, libraries="; ".join(libraries))
