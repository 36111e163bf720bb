"""Refuse configurations that could never be made, with what they would take."""

from __future__ import annotations

from collections.abc import Sequence

from giantstep.questions.costs import CostError, check_cost, cost_of, total_cost
from giantstep.workflow.config import Faults
from giantstep.workflow.config_models import Config
from giantstep.workflow.curves import Figure


def check_limits(faults: Faults, config: Config, figures: Sequence[Figure]) -> None:
    """Refuse what is beyond the limits, with what it would take."""
    curves = (curve for figure in figures for curve in figure.curves)
    tasks = (task for one in curves for task in (*one.theory.values(), *one.networks.values()))
    taken, most = total_cost([cost_of(task) for task in tasks]), config.limits
    try:
        check_cost(taken, most.core_hours, most.memory, ("memory", "core_hours"))
    except CostError as error:
        faults.add("limits", str(error))
