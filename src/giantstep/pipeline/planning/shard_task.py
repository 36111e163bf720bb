"""The task of a shard of a simulation, and the name of its file.

It stands apart from the other tasks so that a change of theirs simulates nothing again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from giantstep.problems.grid import Grid
from giantstep.problems.problem import Problem
from giantstep.problems.sizes import Sizes


@dataclass(frozen=True)
class ShardTask:
    """The simulation of one curve by one block of network replicates."""

    problem: Problem
    grid: Grid
    sizes: Sizes
    networks: tuple[int, ...]
    root_seed: int


def block_name(networks: Sequence[int]) -> str:
    """Name the file of a block of network replicates, without its suffix.

    Raises
    ------
    ValueError
        If they do not follow one another: the name holds the first and the last.
    """
    name = f"networks{networks[0]}-{networks[-1]}"
    if list(networks) != list(block_networks(name)):
        raise ValueError(f"replicates must follow one another: {networks}")
    return name


def block_networks(name: str) -> range:
    """Return the network replicates of a block, none if it is not the name of one."""
    ends = re.fullmatch(r"networks(\d+)-(\d+)", name)
    return range(int(ends[1]), int(ends[2]) + 1) if ends else range(0)
