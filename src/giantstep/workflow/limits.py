"""Refuse configurations that could never be made, with what they would take."""

from __future__ import annotations

import math
from collections.abc import Sequence

from giantstep.questions.costs import Cost, cost_of, total_cost
from giantstep.workflow.config import Faults
from giantstep.workflow.config_models import Config
from giantstep.workflow.curves import Figure
from giantstep.workflow.shards import block_length, with_networks

# Jobs of a figure, besides those of networks.
_JOBS = 4


def check_limits(faults: Faults, config: Config, figures: Sequence[Figure]) -> None:
    """Refuse what is beyond the limits, with what it would take; networks are not listed."""
    costs, jobs = list[Cost](), _JOBS * len(figures)
    for curve in (curve for figure in figures for curve in figure.curves):
        costs += map(cost_of, curve.theory.values())
        for task in curve.networks.values():
            networks, one = len(task.arguments["networks"]), cost_of(with_networks(task, range(1)))
            per_job = config.simulation.networks_per_job or block_length(one.seconds)
            costs.append(Cost(networks * one.seconds, one.memory))
            jobs += math.ceil(networks / per_job)
    taken = total_cost(costs)
    for name, needed, unit in (
        ("core_hours", taken.seconds / 3600, "core-hours"),
        ("memory", taken.memory / 1024, "GiB of memory in one job"),
        ("jobs", jobs, "jobs"),
    ):
        if needed > (allowed := getattr(config.limits, name)):
            faults.add(
                f"limits.{name}",
                f"this configuration takes {_shown(needed)} {unit}, and must take at most"
                f" {_shown(allowed)}: make it smaller, or raise this limit",
            )


def _shown(number: float) -> str:
    return f"{math.ceil(number):,}" if number < 1e15 else f"{number:.3g}"
