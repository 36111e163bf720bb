"""The plan: what the figures of a configuration are made from, by the names of files."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import giantstep
from giantstep.questions.costs import cost_of
from giantstep.questions.task import Task
from giantstep.validation import RefusalError
from giantstep.workflow.config import FIGURES, InvalidConfigError
from giantstep.workflow.curves import Figure
from giantstep.workflow.figure_config import files_of, read_figure, read_figures
from giantstep.workflow.figure_plan import MONTECARLO, FigurePlan, Networks
from giantstep.workflow.keys import ChangedCodeError, code_hash, is_loaded_code, result_key, slug
from giantstep.workflow.resources import Request, request, threads
from giantstep.workflow.shards import block_length, split, stored_blocks, with_networks


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
    _networks: dict[str, Task] = field(default_factory=dict)

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of the figures that the configuration lists."""
        return tuple(self.config["figures"])

    @property
    def unlisted(self) -> list[str]:
        """The names of figures that have a YAML file, but are not listed."""
        paths = sorted((self.root / FIGURES).glob("*.yaml"))
        return [path.stem for path in paths if path.stem not in self.figures]

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
            (curve.name, role): self._split(task)
            for curve in figure.curves
            for role, task in curve.networks.items()
        }
        own = [f"{FIGURES}/{figure.name}.py", *files_of(figure.config)]
        drawing = {path: code_hash(self.root / path) for path in own if (self.root / path).exists()}
        sizes = {k: v for k, v in self.config["simulation"].items() if k != "networks_per_job"}
        return FigurePlan(figure, networks, sizes, self.config["seed"], drawing)

    def _split(self, task: Task) -> Networks:
        """Name the folder of simulated networks, and split them over files."""
        networks = task.arguments["networks"]
        name = f"{slug(task.problem)}-{result_key('montecarlo', {'/': task})}"
        self._networks[name] = task
        per_job = self.config["simulation"].get("networks_per_job")
        length = per_job or block_length(cost_of(with_networks(task, networks[:1])).seconds)
        folder = f"{MONTECARLO}/{name}"
        stored = stored_blocks(self.root / folder)
        return Networks(task, folder, split(len(networks), length, stored))

    def tasks(
        self, stage: str, key: str, figure: str = "", curve: str = "", first: int = 0, last: int = 0
    ) -> dict[str, Task]:
        """Return the tasks of a job, by the name of its file.

        Raises
        ------
        ChangedCodeError
            If the configuration has no such networks now.
        """
        if stage == "montecarlo":
            return {"/": self._shard(f"{curve}-{key}", range(int(first), int(last) + 1))}
        plan = self.figure(figure)
        return plan.parameter_tasks if stage == "parameters" else plan.theory_tasks

    def _shard(self, name: str, networks: range) -> Task:
        # A job of a cluster reads the Snakefile anew, and knows no figure that is not listed.
        for path in sorted((self.root / FIGURES).glob("*.yaml")):
            if name in self._networks:
                break
            with suppress(InvalidConfigError):
                self.figure(path.stem)
        if name not in self._networks:
            raise ChangedCodeError(f"{MONTECARLO}/{name}")
        return with_networks(self._networks[name], networks)

    def request(self, stage: str, threads: int, attempt: int, **wildcards: Any) -> Request:
        """Return what a job requests from a scheduler."""
        return request(self.tasks(stage, **wildcards).values(), threads, attempt)

    def threads(self, stage: str, **wildcards: Any) -> int:
        """Return how many threads a job has."""
        return max(map(threads, self.tasks(stage, **wildcards).values()))


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
    """Refuse to compute with other code than that beside the Snakefile."""
    loaded, own = Path(giantstep.__file__).resolve().parent, (root / "src/giantstep").resolve()
    if own.is_dir() and own != loaded and not is_loaded_code(own):
        raise ForeignPackageError(
            f"the giantstep that is imported, {loaded}, is not the project's, {own}: install the"
            f" project (pip install -e .), or set PYTHONPATH={own.parent}"
        )
