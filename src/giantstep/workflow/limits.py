"""Refuse configurations that could never be made, with what they would take."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from giantstep.questions.costs import cost_of
from giantstep.questions.task import Task
from giantstep.workflow.config import Faults
from giantstep.workflow.config_models import Config
from giantstep.workflow.curves import Figure
from giantstep.workflow.shards import block_length, with_networks

# The demands that are limited: memory of the largest task, of all else the sum.
_UNITS = {
    "core_hours": "core-hours",
    "memory": "GiB of memory in one job",
    "jobs": "jobs",
}


def check_limits(faults: Faults, config: Config, figures: Sequence[Figure]) -> None:
    """Refuse what is beyond the limits, with what it would take."""
    demands = list(_demands(config, figures))
    for name, unit in _UNITS.items():
        each = [demand.get(name, 0) for demand in demands]
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


def _demands(config: Config, figures: Sequence[Figure]) -> Iterator[dict[str, float]]:
    """Yield what each task takes, without listing any network or point."""
    for figure in figures:
        yield {"jobs": 4}  # all but those of networks
        for curve in figure.curves:
            yield from map(_taken, curve.theory.values())
            for task in curve.networks.values():
                networks = len(task.arguments["networks"])
                one = with_networks(task, range(1))
                per_job = config.simulation.networks_per_job or block_length(cost_of(one).seconds)
                yield _taken(one, networks) | {"jobs": math.ceil(networks / per_job)}


def _taken(task: Task, times: int = 1) -> dict[str, float]:
    cost = cost_of(task)
    return {"core_hours": times * cost.seconds / 3600, "memory": cost.memory / 1024}
