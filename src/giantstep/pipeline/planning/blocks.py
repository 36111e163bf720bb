"""How the network replicates of a simulation are split over shards: by what one takes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from giantstep.pipeline.planning.shard_task import ShardTask
from giantstep.pipeline.planning.simulation_work import (
    eigenvalues_work,
    network_work,
    recovery_work,
)
from giantstep.pipeline.planning.tasks import EigenvaluesTask, RecoveryTask

Simulation = ShardTask | EigenvaluesTask | RecoveryTask
# Seconds that a shard takes at most, unless one replicate does: cores that have nothing left to do
# wait for the last shards. Not much less, since on a cluster each job starts Python first.
LONGEST_SHARD = 60.0


def replicate_seconds(task: Simulation) -> float:
    """Estimate what one network replicate of a simulation takes, by one thread."""
    match task:
        case ShardTask():
            return network_work(task.problem, task.grid, task.sizes).seconds
        case EigenvaluesTask():
            return eigenvalues_work(task.problem, task.alpha, task.sizes).seconds
        case RecoveryTask():
            return recovery_work(task.problem, task.dimension).seconds


def networks_per_shard(networks: int, seconds: float) -> int:
    """Return how many replicates a shard has, so that shards are alike.

    Parameters
    ----------
    networks : int
        Of all shards.
    seconds : float
        That one replicate takes.

    Examples
    --------
    >>> networks_per_shard(16, seconds=2), networks_per_shard(16, seconds=10)
    (16, 6)
    """
    most = max(1, math.floor(LONGEST_SHARD / max(seconds, 1e-9)))
    return math.ceil(networks / math.ceil(networks / most))


def split(task: Simulation, per_shard: int | None) -> Iterator[Simulation]:
    """Split the replicates of a task over shards; by default, by what they take."""
    networks: Sequence[int] = task.networks
    size = per_shard or networks_per_shard(len(networks), replicate_seconds(task))
    for start in range(0, len(networks), size):
        yield replace(task, networks=tuple(networks[start : start + size]))
