"""Shards of simulated networks: blocks of replicates that take about a minute, a file each."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from giantstep.questions.task import Task

# Seconds of one thread.
LONGEST_SHARD = 60.0


def block_length(seconds: float) -> int:
    """Return how many replicates take about a minute, a power of two.

    So blocks stay as they are when there are more replicates, or the estimate changes a little.

    Parameters
    ----------
    seconds : float
        That one replicate takes.

    Examples
    --------
    >>> block_length(2), block_length(10), block_length(1000)
    (16, 4, 1)
    """
    return int(2 ** max(0, math.floor(math.log2(LONGEST_SHARD / max(seconds, 1e-3)))))


def split(networks: int, length: int, stored: Iterable[range] = ()) -> tuple[range, ...]:
    """Split replicates into blocks; blocks that are stored stay as they are.

    Examples
    --------
    >>> split(8, 3, stored=[range(2, 4)])
    (range(0, 2), range(2, 4), range(4, 7), range(7, 8))
    """
    kept = sorted((block.start, block.stop) for block in stored if block.stop <= networks)
    longest, blocks, end = dict(kept), list[range](), 0
    while end < networks:
        before = min((start for start in longest if start > end), default=networks)
        blocks.append(range(end, longest.get(end, min(end + length, before))))
        end = blocks[-1].stop
    return tuple(blocks)


def stored_blocks(folder: Path) -> list[range]:
    """List the blocks of replicates that a folder of shards holds."""
    names = (re.fullmatch(r"(\d+)-(\d+)\.nc", path.name) for path in folder.glob("*.nc"))
    return [range(int(name[1]), int(name[2]) + 1) for name in names if name]


def with_networks(task: Task, networks: Sequence[int]) -> Task:
    """Return the task of some of its replicates."""
    return replace(task, arguments={**task.arguments, "networks": tuple(networks)})
