"""Refuse configurations that could never be made, with what they would take."""

from __future__ import annotations

from collections.abc import Sequence

from giantstep.questions.costs import cost_of, total_cost
from giantstep.workflow.config import Faults
from giantstep.workflow.config_models import Config
from giantstep.workflow.curves import Figure


def check_limits(faults: Faults, config: Config, figures: Sequence[Figure]) -> None:
    """Refuse what is beyond the limits, with what it would take."""
    curves = (curve for figure in figures for curve in figure.curves)
    tasks = (task for one in curves for task in (*one.theory.values(), *one.networks.values()))
    taken = total_cost([cost_of(task) for task in tasks])
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
