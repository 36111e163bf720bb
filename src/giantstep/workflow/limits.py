"""Refuse configurations that could never be made, with what they would take."""

from __future__ import annotations

from collections.abc import Sequence

from giantstep.questions.costs import Cost, cost_of, total_cost
from giantstep.workflow.config import Faults
from giantstep.workflow.config_models import Config
from giantstep.workflow.curves import Figure
from giantstep.workflow.shards import with_networks


def check_limits(faults: Faults, config: Config, figures: Sequence[Figure]) -> None:
    """Refuse what is beyond the limits, with what it would take; networks are not listed."""
    costs = list[Cost]()
    for curve in (curve for figure in figures for curve in figure.curves):
        costs += map(cost_of, curve.theory.values())
        for task in curve.networks.values():
            seconds, memory = cost_of(with_networks(task, range(1)))
            costs.append(Cost(len(task.arguments["networks"]) * seconds, memory))
    taken = total_cost(costs)
    for name, needed, unit in (
        ("core_hours", taken.seconds / 3600, "core-hours"),
        ("memory", taken.memory / 1024, "GiB of memory in one job"),
    ):
        if needed > (allowed := getattr(config.limits, name)):
            faults.add(
                f"limits.{name}",
                f"this configuration takes {needed:,.4g} {unit}, and must take at most"
                f" {allowed:,.4g}: make it smaller, or raise this limit",
            )
