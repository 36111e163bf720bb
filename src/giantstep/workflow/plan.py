"""The plan: what the figures of a configuration are made from, by the names of files."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import giantstep
from giantstep.questions.costs import cost_of, total_cost
from giantstep.questions.task import Task
from giantstep.validation import RefusalError
from giantstep.workflow.code import code_hash, is_loaded
from giantstep.workflow.config import FIGURES, InvalidConfigError, figure_names
from giantstep.workflow.curves import Figure
from giantstep.workflow.figure_config import read_figure, read_figures
from giantstep.workflow.figure_plan import MONTECARLO, RESULTS, FigurePlan, Networks
from giantstep.workflow.keys import result_key, slug
from giantstep.workflow.shards import block_length, split, stored_blocks, with_networks

# What every job takes besides its tasks: seconds, MiB.
_START_SECONDS, _START_MEMORY = 2.0, 300.0
# Factors on the estimates, and minutes until a submission works.
_MEMORY_MARGIN, _TIME_MARGIN, _SUBMISSION_MINUTES = 1.3, 3.0, 2.0
# A network that takes more than so many seconds is shared by threads, up to so many.
_LONGEST_NETWORK, _LARGEST_THREADS = 4 * 3600, 8


class ForeignPackageError(RefusalError):
    """The package that is imported is not the one in the project's folder."""


class NotPlannedError(RefusalError):
    """A result that a configuration and the code do not make."""

    def __init__(self, path: str, others: str) -> None:
        super().__init__(f"the configuration and the code do not make {path}: {others}")


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
    _networks: dict[str, Networks] = field(default_factory=dict)

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of the figures that the configuration lists."""
        return tuple(self.config["figures"])

    @property
    def unlisted(self) -> list[str]:
        """The names of figures that have a YAML file, but are not listed."""
        return [name for name in figure_names(self.root) if name not in self.figures]

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
        networks = tuple(
            self._split(figure.name, curve.name, role, task)
            for curve in figure.curves
            for role, task in curve.networks.items()
        )
        for one in networks:
            self._networks.setdefault(one.folder, one)
        own = [f"{FIGURES}/{figure.name}.py", *figure.config.get("reads", ())]
        drawing = {path: code_hash(self.root / path) for path in own if (self.root / path).exists()}
        sizes = {k: v for k, v in self.config["simulation"].items() if k != "networks_per_job"}
        return FigurePlan(figure, networks, sizes, self.config["seed"], drawing)

    def _split(self, figure: str, curve: str, role: str, task: Task) -> Networks:
        """Name the folder of simulated networks, and split them over files."""
        networks = task.arguments["networks"]
        folder = f"{MONTECARLO}/{slug(task.problem)}-{result_key('montecarlo', {'/': task})}"
        per_job = self.config["simulation"].get("networks_per_job")
        length = per_job or block_length(cost_of(with_networks(task, networks[:1])).seconds)
        stored = stored_blocks(self.root / folder)
        blocks = split(len(networks), length, stored)
        return Networks(figure, curve, role, task, folder, blocks)

    def networks(self, problem: str, key: str, **_: str) -> Networks:
        """Return the networks that a folder holds; of several curves, those of the first.

        Raises
        ------
        NotPlannedError
        """
        folder = f"{MONTECARLO}/{problem}-{key}"
        # A job of a cluster reads the Snakefile anew, and knows no figure that is not listed.
        for figure in figure_names(self.root):
            if folder in self._networks:
                break
            with suppress(InvalidConfigError):
                self.figure(figure)
        if folder not in self._networks:
            raise NotPlannedError(folder, "`giantstep explain` lists what they do")
        return self._networks[folder]

    def tasks(self, stage: str, **wildcards: str) -> dict[str, Task]:
        """Return the tasks of a job, by the name of its file.

        Raises
        ------
        InvalidConfigError
        NotPlannedError
            If the configuration and the code make no such file.
        """
        if stage == "montecarlo":
            return self.networks(**wildcards).shard(wildcards["first"], wildcards["last"])
        figure = self.figure(wildcards["figure"])
        asked = f"{RESULTS}/{stage}/{figure.name}-{wildcards['key']}.nc"
        if asked not in (made := figure.file(stage)):
            raise NotPlannedError(asked, f"of {figure.name} they make {''.join(made) or 'none'}")
        return figure.tasks(stage)

    def request(self, stage: str, threads: int, attempt: int, **wildcards: Any) -> dict[str, int]:
        """Estimate what a job requests from a scheduler, with margins; each attempt gets more."""
        tasks = self.tasks(stage, **wildcards).values()
        taken = total_cost([cost_of(task, threads) for task in tasks])
        memory = _MEMORY_MARGIN * (_START_MEMORY + taken.memory)
        seconds = _TIME_MARGIN * (_START_SECONDS + taken.seconds / max(threads, 1))
        runtime = _SUBMISSION_MINUTES + seconds / 60
        return {
            "mem_mb": math.ceil(attempt * memory),
            "runtime": math.ceil(attempt * runtime),
        }

    def threads(self, stage: str, **wildcards: Any) -> int:
        """Return how many threads share a shard; no more than needed, since each needs memory."""
        (task,) = self.tasks(stage, **wildcards).values()
        networks = task.arguments["networks"]
        seconds = cost_of(with_networks(task, networks[:1])).seconds
        return min(_LARGEST_THREADS, max(1, math.ceil(seconds / _LONGEST_NETWORK)))


def check_places(plan: Plan) -> None:
    """Refuse what stands in the place of a run's folders and files, and Snakemake cannot replace.

    Raises
    ------
    RefusalError
    """
    figures = [plan.figure(name) for name in plan.figures]
    targets = {x for one in figures for x in (*one.marks.values(), one.merged, *one.outputs)}
    no_folders = [path for path in ("results", "figures", "logs") if not _is(Path.is_dir, path)]
    no_files = [path for path in sorted(targets) if not _is(Path.is_file, path)]
    results = (path for one in figures for path in (*one.solved, *one.shards))
    no_files += [path for path in results if not _is(Path.exists, path)]
    for paths, kind in (no_folders, "folder"), (no_files, "file"):
        if paths:
            raise RefusalError(f"{', '.join(paths)} must be a {kind}: remove what is there")


def _is(kind: Callable[[Path], bool], path: str) -> bool:
    """Check what is at a path, if anything is, be it a link to nothing."""
    return kind(Path(path)) or not os.path.lexists(path)


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
    if own.is_dir() and own != loaded and not is_loaded(root):
        raise ForeignPackageError(
            f"the giantstep that is imported, {loaded}, is not the project's, {own}: install the"
            f" project (pip install -e .), or set PYTHONPATH={own.parent}"
        )
