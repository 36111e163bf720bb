"""Check a whole configuration: all its files, and what it would take, before anything is made."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from giantstep.questions.costs import cost_of
from giantstep.questions.task import Task
from giantstep.workflow.config import CONFIG, MAIN, Faults, load_yaml
from giantstep.workflow.config_checks import check_config
from giantstep.workflow.config_models import Config
from giantstep.workflow.curves import Figure
from giantstep.workflow.figure_config import read_figure
from giantstep.workflow.shards import block_length, with_networks

# In place of sizes and limits that are faulty, so that figures are checked, too.
_SOUND: Mapping[str, Any] = {
    "figures": ["fig1"],
    "seed": 0,
    "simulation": {"dimension": 1000, "networks": 1, "trainings": 1, "test_samples": 1},
}


def read_figures(root: Path, config: Mapping[str, Any]) -> list[Figure]:
    """Check a configuration with all the figures that it lists, and return these.

    Parameters
    ----------
    root : Path
        The folder that holds config/.
    config : mapping
        The content of config/config.yaml with its overlays.

    Raises
    ------
    InvalidConfigError
        With every fault of every file.
    """
    faults = Faults(CONFIG)
    sound, checked = _SOUND, Config.model_validate(_SOUND)
    if (root / MAIN).exists():
        with faults.collect_file():
            load_yaml(root / MAIN, str(MAIN))  # Snakemake's reader lets keys be repeated
    with faults.collect_file():
        sound, checked = config, check_config(config)
    figures = []
    names = config.get("figures") if isinstance(config, Mapping) else None
    for name in names if isinstance(names, list) else ():
        with faults.collect_file():
            figures.append(read_figure(root, str(name), sound))
    if not faults.faults:
        _check_limits(faults, checked, figures)
    faults.refuse()
    return figures


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


def _check_limits(faults: Faults, config: Config, figures: Sequence[Figure]) -> None:
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
                yield _of_theory(task)
            for task in curve.networks.values():
                yield _of_networks(task, config.simulation.networks_per_job)


def _of_theory(task: Task) -> _Demand:
    cost = cost_of(task)
    axes = (v for k, v in task.arguments.items() if k != "gains" and isinstance(v, tuple))
    return _Demand(cost.seconds / 3600, cost.memory / 1024, 0, 0, math.prod(map(len, axes)))


def _of_networks(task: Task, per_job: int | None) -> _Demand:
    networks = len(task.arguments["networks"])
    one = cost_of(with_networks(task, range(1)))
    jobs = math.ceil(networks / (per_job or block_length(one.seconds)))
    return _Demand(networks * one.seconds / 3600, one.memory / 1024, jobs, networks, 0)
