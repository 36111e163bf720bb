"""Shards of simulated networks: blocks of replicates that take about a minute, a file each."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from giantstep.questions.task import Task

# Seconds of one thread.
LONGEST_SHARD = 60.0


class Block(NamedTuple):
    """Network replicates that follow one another."""

    first: int
    last: int


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


def split(networks: int, length: int, stored: Iterable[Block] = ()) -> tuple[Block, ...]:
    """Split replicates into blocks; blocks that are stored stay as they are.

    Examples
    --------
    >>> split(8, 3, stored=[Block(2, 3)])
    (Block(first=0, last=1), Block(first=2, last=3), Block(first=4, last=6), Block(first=7, last=7))
    """
    longest = {block.first: block.last for block in sorted(stored) if block.last < networks}
    blocks: list[Block] = []
    first = 0
    while first < networks:
        before = min((start for start in longest if start > first), default=networks)
        last = longest.get(first, min(first + length, before) - 1)
        blocks.append(Block(first, last))
        first = last + 1
    return tuple(blocks)


def stored_blocks(folder: Path) -> list[Block]:
    """List the blocks of replicates that a folder of shards holds."""
    names = (re.fullmatch(r"(\d+)-(\d+)\.nc", path.name) for path in folder.glob("*.nc"))
    return [Block(int(name[1]), int(name[2])) for name in names if name]


def with_networks(task: Task, networks: Sequence[int]) -> Task:
    """Return the task of some of its replicates."""
    return replace(task, arguments={**task.arguments, "networks": tuple(networks)})
