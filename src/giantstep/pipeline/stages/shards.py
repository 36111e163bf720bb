"""Shards of simulations: each network replicate is kept as soon as it is done.

All replicates of a curve lie in one folder, whose name holds everything that their numbers depend
on; a file's name says which replicates are in it. A shard takes from its folder what is there
already, simulates the rest one by one, and then puts its replicates into one file. So a shard that
was stopped goes on at the last finished replicate, and other numbers of replicates, altogether or
in a shard, simulate only those that are new.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import xarray as xr

from giantstep.pipeline.planning.plan import ShardTask, block_name
from giantstep.pipeline.runtime.checksums import DamagedFileError
from giantstep.pipeline.stages import stages
from giantstep.pipeline.storage import netcdf

Say = Callable[[str], None]
# Seconds between two words on how far a replicate is.
PATIENCE = 15


def complete(task: ShardTask, path: Path, say: Say = lambda text: None, threads: int = 1) -> None:
    """Write a shard's file, simulating the replicates that its folder does not hold.

    Parameters
    ----------
    task : ShardTask
    path : Path
        The shard's file, named by `plan.block_name`.
    say : callable
        Told, now and then, how far it is.
    threads : int
    """
    stored = _stored(path.parent, task.networks, say)
    replicates = []
    for place, network in enumerate(task.networks):
        found = stored.get(network)
        if found is None:
            found = _simulated(task, network, _teller(say, place, len(task.networks)), threads)
            netcdf.write(found, _single(path.parent, network))
        replicates.append(found)
    whole = stages.joined(replicates, task.problem, task.grid, task.sizes, task.root_seed)
    netcdf.write(whole, path)
    for network in task.networks:
        single = _single(path.parent, network)
        if single != path:
            single.unlink(missing_ok=True)


def held(folder: Path) -> set[int]:
    """Tell by the files' names which replicates a folder holds."""
    return {network for _, networks in _files(folder) for network in networks}


def _single(folder: Path, network: int) -> Path:
    return folder / f"{block_name([network])}.nc"


def _stored(folder: Path, networks: Sequence[int], say: Say) -> dict[int, xr.Dataset]:
    """Find replicates in the files of a folder; damaged files are set aside."""
    stored: dict[int, xr.Dataset] = {}
    for path, held in _files(folder):
        wanted = [network for network in networks if network in held and network not in stored]
        if not wanted:
            continue
        try:
            found = netcdf.read(path)
            stored |= {network: found.sel(network=[network]) for network in wanted}
        except DamagedFileError as error:
            say(str(error))
        except FileNotFoundError:  # a shard that ended meanwhile took it into its own file
            continue
    return stored


def _files(folder: Path) -> Iterator[tuple[Path, range]]:
    """List a folder's files, with the replicates that they hold by their names."""
    for path in sorted(folder.glob("networks*.nc")):
        ends = re.fullmatch(r"networks(\d+)-(\d+)\.nc", path.name)
        if ends:
            yield path, range(int(ends[1]), int(ends[2]) + 1)


def _simulated(
    task: ShardTask, network: int, progress: Callable[[float], None], threads: int
) -> xr.Dataset:
    return stages.simulation(
        task.problem, task.grid, task.sizes, [network], task.root_seed, progress, threads
    )


def _teller(say: Say, place: int, total: int) -> Callable[[float], None]:
    """Tell how far a replicate is, but not too often."""
    last = time.monotonic()

    def tell(share: float) -> None:
        nonlocal last
        if time.monotonic() > last + PATIENCE:
            last = time.monotonic()
            say(f"network {place + 1} of {total}, {share:.0%}")

    return tell
