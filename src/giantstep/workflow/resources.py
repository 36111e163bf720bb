"""What a job requests from a scheduler, by the estimated cost of its tasks."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import NamedTuple

from giantstep.questions.costs import cost_of, total_cost
from giantstep.questions.task import Task
from giantstep.workflow.shards import with_networks

# What every job takes besides its tasks: seconds, MiB.
_START_SECONDS, _START_MEMORY = 2.0, 300.0
# Factors on the estimates, and minutes until a submission works.
_MEMORY_MARGIN, _TIME_MARGIN, _SUBMISSION_MINUTES = 1.3, 3.0, 2.0
# A network that takes more than so many seconds is shared by threads, up to so many.
_LONGEST_NETWORK, _LARGEST_THREADS = 4 * 3600, 8


class Request(NamedTuple):
    """Memory in MiB, and minutes."""

    memory: int
    minutes: int


def request(tasks: Collection[Task], threads: int = 1, attempt: int = 1) -> Request:
    """Estimate what a job of several tasks takes, with margins; each attempt gets more."""
    taken = total_cost([cost_of(task, threads) for task in tasks])
    seconds, memory = _START_SECONDS + taken.seconds / max(threads, 1), _START_MEMORY + taken.memory
    minutes = _SUBMISSION_MINUTES + _TIME_MARGIN * seconds / 60
    return Request(math.ceil(attempt * _MEMORY_MARGIN * memory), math.ceil(attempt * minutes))


def threads(task: Task) -> int:
    """Return how many threads share a shard; no more than needed, since each needs memory."""
    networks = task.arguments["networks"]
    seconds = cost_of(with_networks(task, networks[:1])).seconds
    return min(_LARGEST_THREADS, max(1, math.ceil(seconds / _LONGEST_NETWORK)))
