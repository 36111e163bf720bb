"""One figure's file: all of its curves, in one self-contained dataset."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import xarray as xr

from giantstep.pipeline.planning.layout import STAGES
from giantstep.pipeline.planning.shard_task import block_networks
from giantstep.pipeline.planning.tasks import Curve
from giantstep.pipeline.planning.versions import split_versions
from giantstep.pipeline.stages.join_lines import join_lines
from giantstep.pipeline.stages.merge_curve import merge_curve
from giantstep.pipeline.stages.merge_map import merge_map
from giantstep.pipeline.stages.merge_recovery import merge_recovery
from giantstep.pipeline.storage import netcdf
from giantstep.pipeline.storage.description import describe
from giantstep.pipeline.storage.on_disk import join_on_disk, scratch_file
from giantstep.problems.canonical import plain

log = logging.getLogger("giantstep")


def merge_figure(
    curves: Sequence[Curve],
    config: dict[str, Any],
    simulation: dict[str, Any],
    root_seed: int,
    project: Path = Path(),
) -> xr.Dataset:
    """Put all results of a figure into one self-contained dataset along `curve`.

    What was measured of each network stays on the disk until it is used.

    Parameters
    ----------
    curves : sequence of Curve
    config : dict
        The figure's config, without what only drawings use; stored, and its title is the dataset's.
    simulation : dict
        Sizes of the simulations, as configured; stored.
    root_seed : int
    project : Path
        The folder of the project, whose results are read.
    """
    scratch = scratch_file(project)
    lines, libraries = [], set()
    for curve in curves:
        found = _results(curve, project, scratch)
        lines += _lines(curve, found)
        libraries |= {one.attrs["libraries"] for many in found.values() for one in many}
    merged = describe(
        join_lines(lines),
        title=config["title"],
        parameters={
            "figure": plain(config),
            "simulation": simulation,
            "curves": {curve.name: plain(curve.problem) for curve in curves},
        },
        made_from=[key for curve in curves for key in curve.made_from],
        root_seed=root_seed,
        libraries=libraries,
    )
    if len(versions := split_versions(merged.attrs["libraries"])) > 1:
        log.warning(
            "its results come from several versions of libraries (%s): with `strict_versions: true`"
            " in the config, all are computed with those that are installed",
            "; ".join(versions),
        )
    return merged


def _results(curve: Curve, project: Path, scratch: IO[bytes]) -> dict[str, list[xr.Dataset]]:
    """Read the results of a curve by stage; shards become one."""
    found = {}
    for stage, keys in curve.keys.items():
        files = [(path, f"{stage}/{key}") for key in keys for path in STAGES[stage].paths(key)]
        results = (netcdf.read(project / path, name) for path, name in files)
        if STAGES[stage].sharded:
            networks = sum(len(block_networks(key.partition("/")[2])) for key in keys)
            found[stage] = [join_on_disk(results, "network", networks, scratch)]
        else:
            found[stage] = list(results)
    return found


def _lines(curve: Curve, found: dict[str, list[xr.Dataset]]) -> list[xr.Dataset]:
    """Put the results of a curve together."""
    if "recovery" in found:
        return [merge_recovery(curve, found["recovery"][0])]
    if "maps" in found:
        return [merge_map(curve, found["maps"][0])]
    return merge_curve(curve, found)
