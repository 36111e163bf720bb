"""The plan: what the figures of a configuration are made from, by the names of files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from giantstep.questions.costs import cost_of, total_cost
from giantstep.questions.task import Task
from giantstep.validation import RefusalError
from giantstep.workflow.code import PACKAGE, code_hash, installed_folder
from giantstep.workflow.config import FIGURES, InvalidConfigError, figure_names
from giantstep.workflow.curves import Figure
from giantstep.workflow.figure_config import read_figure, read_figures
from giantstep.workflow.figure_plan import MONTECARLO, FigurePlan
from giantstep.workflow.keys import key, slug
from giantstep.workflow.shards import block_length, split, stored_blocks, with_networks

# What every job takes besides its tasks: seconds, MiB.
_START_SECONDS, _START_MEMORY = 2.0, 300.0
# Factors on the estimates, and minutes until a submission works.
_MEMORY_MARGIN, _TIME_MARGIN, _SUBMISSION_MINUTES = 1.3, 3.0, 2.0


class ForeignPackageError(RefusalError):
    """The package that is imported is not the one in the project's folder."""


@dataclass
class Plan:
    """All that a configuration makes; a figure is planned when it is asked for.

    Attributes
    ----------
    root : Path
        The project's folder, which holds config/ and results/.
    config : mapping
        The content of config/config.yaml with its overlays.
    """

    root: Path
    config: Mapping[str, Any]
    _figures: dict[str, FigurePlan] = field(default_factory=dict)

    def figure(self, name: str) -> FigurePlan:
        """Plan a figure, be it listed or not.

        Raises
        ------
        InvalidConfigError
            With every fault of its YAML.
        """
        if name not in self._figures:
            self._figures[name] = self._planned(read_figure(self.root, name, self.config))
        return self._figures[name]

    def _planned(self, figure: Figure) -> FigurePlan:
        networks = {
            (curve.name, role): self._shards(task)
            for curve in figure.curves
            for role, task in curve.networks.items()
        }
        own = [f"{FIGURES}/{figure.name}.py", *figure.config.get("reads", ())]
        drawing = {path: code_hash(self.root / path) for path in own if (self.root / path).exists()}
        sizes = {k: v for k, v in self.config["simulation"].items() if k != "networks_per_job"}
        sizes["seed"] = self.config["seed"]
        return FigurePlan(**vars(figure), networks=networks, simulation=sizes, drawing=drawing)

    def _shards(self, task: Task) -> dict[str, Task]:
        """Split simulated networks over files of one folder."""
        networks = task.arguments["networks"]
        of_all = key("montecarlo", with_networks(task, ()))  # those of a shard are in its name
        folder = f"{MONTECARLO}/{slug(task.problem)}-{of_all}"
        per_job = self.config["simulation"].get("networks_per_job")
        length = per_job or block_length(cost_of(with_networks(task, networks[:1])).seconds)
        blocks = split(len(networks), length, stored_blocks(self.root / folder))
        return {f"{folder}/{x[0]}-{x[-1]}.nc": with_networks(task, x) for x in blocks}

    def figure_of(self, path: str) -> FigurePlan:
        """Return the figure that a result is of; for networks of several, the first.

        Raises
        ------
        RefusalError
            If the configuration and the code make no such file.
        """
        # A job of a cluster reads the Snakefile anew, and knows no figure that is not listed.
        for name in dict.fromkeys([*self._figures, *figure_names(self.root)]):
            with suppress(InvalidConfigError):
                if path in self.figure(name).jobs:
                    return self.figure(name)
        text = "run `giantstep explain`, which lists what is to be made"
        raise RefusalError(f"the configuration and the code do not make {path}: {text}")

    def request(self, path: str, threads: int, attempt: int) -> dict[str, int]:
        """Estimate what a job requests from a scheduler, with margins; each attempt gets more."""
        tasks = self.figure_of(path).jobs[path].values()
        taken = total_cost([cost_of(task, threads) for task in tasks])
        memory = _MEMORY_MARGIN * (_START_MEMORY + taken.memory)
        seconds = _TIME_MARGIN * (_START_SECONDS + taken.seconds / max(threads, 1))
        runtime = _SUBMISSION_MINUTES + seconds / 60
        return {"mem_mb": math.ceil(attempt * memory), "runtime": math.ceil(attempt * runtime)}


def make_plan(root: Path, config: Mapping[str, Any]) -> Plan:
    """Check a whole configuration, and plan every figure that it lists.

    Parameters
    ----------
    root : Path
        The project's folder.
    config : mapping

    Raises
    ------
    InvalidConfigError
        With every fault of every file.
    ForeignPackageError
    """
    _check_package(root)
    figures, plan = read_figures(root, config), Plan(root, config)
    plan._figures |= {figure.name: plan._planned(figure) for figure in figures}
    return plan


def _check_package(root: Path) -> None:
    """Refuse to compute with other code than that beside the Snakefile, if it holds any."""
    own, loaded = (root / "src/giantstep").resolve(), PACKAGE.resolve()
    if own == loaded or not own.is_dir():
        return
    pairs = (own, loaded), (root / "workflow", installed_folder() / "workflow")
    if any(code_hash(one) != code_hash(other) for one, other in pairs):
        raise ForeignPackageError(
            f"the giantstep that is imported, {loaded}, is not the project's, {own}: install the"
            f" project (pip install -e .), or set PYTHONPATH={own.parent}"
        )
