"""Shards of simulations: each network replicate is kept as soon as it is finished.

All replicates of a curve are in one folder, whose name covers everything that their numbers depend
on; the name of a file says which replicates it holds. A shard reads from its folder the replicates
that are there already, simulates the others one by one, and then writes all of its own into one
file. So a stopped shard goes on after its last finished replicate, and with more replicates, or
shards of another size, only new replicates are simulated.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import xarray as xr

from giantstep.pipeline.planning.shard_task import block_name, block_networks
from giantstep.pipeline.runtime.checksums import DamagedFileError
from giantstep.pipeline.runtime.run_times import computing
from giantstep.pipeline.stages.dataset_layout import join_networks
from giantstep.pipeline.stages.result import compute_result, describe_result
from giantstep.pipeline.storage import netcdf

Report = Callable[[str], None]
# Seconds between two reports of how far a replicate is.
REPORT_EVERY = 15


def complete_shard(
    stage: ModuleType,
    task: Any,
    path: Path,
    report: Report = lambda text: None,
    check: Callable[[], None] = lambda: None,
    **options: Any,
) -> None:
    """Write a shard's file, simulating the replicates that its folder does not hold.

    Parameters
    ----------
    stage : module
        That simulates: "montecarlo", "eigenvalues" or "recovery" of `pipeline.stages`.
    task : ShardTask, EigenvaluesTask or RecoveryTask
    path : Path
        The shard's file, named by `shard_task.block_name`.
    report : callable
        Called now and then with how far the shard is.
    check : callable
        Called before a file is written; raises to prevent it.
    **options
        Further arguments of `compute` in the stage, which change no number.
    """
    stored = _read_stored(stage, path.parent, task.networks, report)
    replicates = []
    for place, network in enumerate(task.networks):
        replicate = stored.get(network)
        if replicate is None:
            progress = _progress(report, place, len(task.networks))
            one = replace(task, networks=(network,))
            with computing():
                replicate = compute_result(stage, one, progress=progress, **options)
            check()
            single = _single(path.parent, network)
            netcdf.write(replicate, single, _name(stage, single))
        replicates.append(replicate)
    check()
    libraries = [replicate.attrs["libraries"] for replicate in replicates]
    joined = describe_result(stage, task, join_networks(replicates), libraries)
    netcdf.write(joined, path, _name(stage, path))
    for network in task.networks:
        single = _single(path.parent, network)
        if single != path:
            single.unlink(missing_ok=True)


def stored_networks(folder: Path) -> set[int]:
    """List the replicates in a folder, by the names of its files."""
    return {network for _, networks in _files(folder) for network in networks}


def _single(folder: Path, network: int) -> Path:
    return folder / f"{block_name([network])}.nc"


def _name(stage: ModuleType, path: Path) -> str:
    """Return the name that is inside a file of replicates, whose folder's name is the key."""
    return f"{stage.__name__.rpartition('.')[2]}/{path.parent.name}/{path.stem}"


def _read_stored(
    stage: ModuleType, folder: Path, networks: Sequence[int], report: Report
) -> dict[int, xr.Dataset]:
    """Read replicates from the files of a folder; damaged files are set aside."""
    stored: dict[int, xr.Dataset] = {}
    for path, held in _files(folder):
        wanted = [network for network in networks if network in held and network not in stored]
        if not wanted:
            continue
        try:
            found = netcdf.read(path, _name(stage, path))
            stored |= {network: found.sel(network=[network]) for network in wanted}
        except DamagedFileError as error:
            report(str(error))
        except FileNotFoundError:  # another shard has just moved it into its own file
            continue
    return stored


def _files(folder: Path) -> Iterator[tuple[Path, range]]:
    """List a folder's files with the replicates that they hold, by their names."""
    for path in sorted(folder.glob("networks*.nc")):
        if held := block_networks(path.stem):
            yield path, held


def _progress(report: Report, place: int, total: int) -> Callable[[float], None]:
    """Report how far a replicate is, but not too often."""
    last = time.monotonic()

    def progress(share: float) -> None:
        nonlocal last
        if time.monotonic() > last + REPORT_EVERY:
            last = time.monotonic()
            report(f"network {place + 1} of {total}, {share:.0%}")

    return progress
