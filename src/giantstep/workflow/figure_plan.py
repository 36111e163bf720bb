"""The plan of one figure: its tasks, by the files that hold their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from giantstep.problems.canonical import plain
from giantstep.questions.task import Task
from giantstep.workflow.code import ChangedCodeError
from giantstep.workflow.curves import Figure
from giantstep.workflow.keys import key, one_number, result_key
from giantstep.workflow.shards import Block, with_networks

RESULTS = "results"
KEYS, MONTECARLO = f"{RESULTS}/keys", f"{RESULTS}/montecarlo"
# Of a figure's YAML, what only its drawing shows.
_DRAWN = ("style", "caption")


def science(config: Mapping[str, Any]) -> Any:
    """Return the YAML of a figure without what only its drawing shows."""
    return plain(one_number({k: v for k, v in config.items() if k not in _DRAWN}))


@dataclass(frozen=True)
class Networks:
    """The simulated networks of one task, in a folder of shards.

    Attributes
    ----------
    figure, curve, role : str
    task : Task
        Its argument `networks` lists all replicates.
    folder : str
    blocks : tuple of Block
        How the replicates are split over files.
    """

    figure: str
    curve: str
    role: str
    task: Task
    folder: str
    blocks: tuple[Block, ...]

    @property
    def files(self) -> list[str]:
        """The paths of its shards."""
        return [f"{self.folder}/{block.first}-{block.last}.nc" for block in self.blocks]

    def shard(self, first: Any, last: Any) -> dict[str, Task]:
        """Return the task of a shard, by the group of its file."""
        return {"/": with_networks(self.task, range(int(first), int(last) + 1))}


@dataclass(frozen=True)
class FigurePlan:
    """All that is made of one figure.

    Attributes
    ----------
    figure : Figure
    networks : tuple of Networks
    simulation : mapping
        Sizes of simulations, as configured, but for `networks_per_job`.
    seed : int
    drawing : mapping of str to str
        Hashes of the project's files that draw it, by their paths.
    """

    figure: Figure
    networks: tuple[Networks, ...]
    simulation: Mapping[str, Any]
    seed: int
    drawing: Mapping[str, str]

    @property
    def name(self) -> str:
        """Of the figure."""
        return self.figure.name

    def tasks(
        self, stage: str, curve: str = "", role: str = "", **wildcards: str
    ) -> dict[str, Task]:
        """Return the tasks of a job, by the group of its file: of a figure, or of a shard.

        Raises
        ------
        ChangedCodeError
            If the figure has no such networks now.
        """
        if stage != "montecarlo":
            return {
                f"{one.name}/{role}": task
                for one in self.figure.curves
                for role, task in one.theory.items()
                if (role == "parameters") == (stage == "parameters")
            }
        for one in self.networks:
            if (one.curve, one.role) == (curve, role):
                return one.shard(wildcards["first"], wildcards["last"])
        raise ChangedCodeError(f"{curve} of {self.name}")

    def file(self, stage: str) -> list[str]:
        """Name the file of the parameters, or of the theory; none if there are no tasks."""
        tasks = self.tasks(stage)
        return [f"{RESULTS}/{stage}/{self.name}-{result_key(stage, tasks)}.nc"] if tasks else []

    @cached_property
    def solved(self) -> list[str]:
        """The files of its parameters and its theory."""
        return self.file("parameters") + self.file("theory")

    @cached_property
    def shards(self) -> list[str]:
        """The files of simulated networks."""
        return list(dict.fromkeys(path for one in self.networks for path in one.files))

    def jobs(self) -> Iterator[tuple[str, str, dict[str, Task]]]:
        """Yield the stage, the file and the tasks of each job that computes."""
        for path in self.solved:
            stage = Path(path).parent.name
            yield stage, path, self.tasks(stage)
        for one in self.networks:
            for path, block in zip(one.files, one.blocks, strict=True):
                yield "montecarlo", path, one.shard(*block)

    @cached_property
    def made_from(self) -> list[str]:
        """The results that are merged, whatever the files over which replicates are split."""
        last = (len(one.task.arguments["networks"]) - 1 for one in self.networks)
        networks = (f"{one.folder}/0-{k}" for one, k in zip(self.networks, last, strict=True))
        return list(dict.fromkeys([*self.solved, *networks]))

    @property
    def parameters_of_file(self) -> dict[str, Any]:
        """What its merged file states of its configuration."""
        simulation = {**self.simulation, "seed": self.seed}
        return {"figure": science(self.figure.config), "simulation": simulation}

    @cached_property
    def data_key(self) -> str:
        """The key of the merged file."""
        curves = [(c.name, c.panel, c.bulk, c.loss, c.dimension) for c in self.figure.curves]
        return key("merge", self.parameters_of_file, curves, self.made_from)

    @cached_property
    def marks(self) -> dict[str, str]:
        """The files whose names hold a key: that of the "data", and that of the "drawing"."""
        drawing = key("figure", self.data_key, self.figure.config, self.drawing)
        keys = {"data": self.data_key, "drawing": drawing}
        return {of: f"{KEYS}/{self.name}/{of}-{one}" for of, one in keys.items()}

    @property
    def merged(self) -> str:
        """The merged file."""
        return f"{RESULTS}/figures/{self.name}.nc"

    @property
    def merged_name(self) -> str:
        """The name under which the merged file is written and read (`store`)."""
        return f"figures/{self.name}-{self.data_key}"

    @property
    def drawings(self) -> list[str]:
        """The drawings."""
        return [f"figures/{self.name}.{suffix}" for suffix in ("png", "svg", "pdf")]

    @property
    def scores(self) -> list[str]:
        """The table of scores, and the page of it."""
        return [f"{RESULTS}/scores/{self.name}.{suffix}" for suffix in ("csv", "html")]

    @property
    def outputs(self) -> list[str]:
        """What is made from the merged file."""
        return self.drawings + self.scores

    def check_mark(self, mark: str) -> None:
        """Check that a file whose name is a key is there, and that its key is that of this plan.

        Raises
        ------
        ChangedCodeError
            If code or configuration was edited since the run was planned.
        """
        if mark not in self.marks.values() or not Path(mark).exists():
            raise ChangedCodeError(mark)
