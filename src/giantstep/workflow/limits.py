"""Refuse configurations that could never be made, with what they would take."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from giantstep.questions.costs import cost_of
from giantstep.questions.task import Task
from giantstep.workflow.config import Faults
from giantstep.workflow.config_models import Config
from giantstep.workflow.curves import Figure
from giantstep.workflow.shards import block_length, with_networks


class _Demand(NamedTuple):
    """What tasks take; memory is that of the largest, in GiB."""

    core_hours: float
    memory: float
    jobs: int
    networks: int
    points: int


_UNITS = {
    "core_hours": "core-hours",
    "memory": "GiB of memory in one job",
    "jobs": "jobs",
    "networks": "simulated networks",
    "points": "points of the theory",
}


def check_limits(faults: Faults, config: Config, figures: Sequence[Figure]) -> None:
    """Refuse what is beyond the limits, with what it would take."""
    demands = list(_demands(config, figures))
    for name, unit in _UNITS.items():
        each = [getattr(demand, name) for demand in demands]
        needed = max(each) if name == "memory" else sum(each)
        allowed = getattr(config.limits, name)
        if needed > allowed:
            faults.add(
                f"limits.{name}",
                f"this configuration takes {_shown(needed)} {unit}, and must take at most"
                f" {_shown(allowed)}: make it smaller, or raise this limit",
            )


def _shown(number: float) -> str:
    return f"{math.ceil(number):,}" if number < 1e15 else f"{number:.3g}"


def _demands(config: Config, figures: Sequence[Figure]) -> Iterator[_Demand]:
    """Yield what each task takes, without listing any network or point."""
    for figure in figures:
        yield _Demand(0.0, 0.0, jobs=4, networks=0, points=0)  # all but those of networks
        for curve in figure.curves:
            for task in curve.theory.values():
                cost, given = cost_of(task), task.arguments.items()
                points = math.prod(len(v) for k, v in given if k != "gains" and type(v) is tuple)
                yield _Demand(cost.seconds / 3600, cost.memory / 1024, 0, 0, points)
            for task in curve.networks.values():
                yield _of_networks(task, config.simulation.networks_per_job)


def _of_networks(task: Task, per_job: int | None) -> _Demand:
    networks = len(task.arguments["networks"])
    one = cost_of(with_networks(task, range(1)))
    jobs = math.ceil(networks / (per_job or block_length(one.seconds)))
    return _Demand(networks * one.seconds / 3600, one.memory / 1024, jobs, networks, 0)
