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
    task : Task
        Its argument `networks` lists all replicates.
    folder : str
    blocks : tuple of Block
        How the replicates are split over files.
    """

    task: Task
    folder: str
    blocks: tuple[Block, ...]

    @property
    def files(self) -> list[str]:
        """The paths of its shards."""
        return [f"{self.folder}/{block.first}-{block.last}.nc" for block in self.blocks]


@dataclass(frozen=True)
class FigurePlan:
    """All that is made of one figure.

    Attributes
    ----------
    figure : Figure
    networks : mapping of (str, str) to Networks
        By curve and role.
    simulation : mapping
        Sizes of simulations, as configured, but for `networks_per_job`.
    seed : int
    drawing : mapping of str to str
        Hashes of the project's files that draw it, by their paths.
    """

    figure: Figure
    networks: Mapping[tuple[str, str], Networks]
    simulation: Mapping[str, Any]
    seed: int
    drawing: Mapping[str, str]

    @property
    def name(self) -> str:
        """Of the figure."""
        return self.figure.name

    @cached_property
    def parameter_tasks(self) -> dict[str, Task]:
        """The tasks of the job `parameters`, by curve."""
        return {c.name: c.parameters for c in self.figure.curves if c.parameters is not None}

    @cached_property
    def theory_tasks(self) -> dict[str, Task]:
        """The tasks of the job `theory`, by curve and role."""
        curves = self.figure.curves
        return {f"{c.name}/{role}": task for c in curves for role, task in c.theory.items()}

    def tasks(
        self,
        stage: str,
        curve: str = "",
        role: str = "",
        *,
        first: Any = 0,
        last: Any = 0,
        **_: str,
    ) -> dict[str, Task]:
        """Return the tasks of a job, by the group of its file: of a figure, or of a shard.

        Raises
        ------
        ChangedCodeError
            If the figure has no such networks now.
        """
        if stage != "montecarlo":
            return self.parameter_tasks if stage == "parameters" else self.theory_tasks
        if (curve, role) not in self.networks:
            raise ChangedCodeError(f"{curve} of {self.name}")
        block = range(int(first), int(last) + 1)
        return {"/": with_networks(self.networks[curve, role].task, block)}

    @cached_property
    def parameters(self) -> str:
        """The file with the results of `parameter_tasks`; empty if there are none."""
        return self.file("parameters")

    @cached_property
    def theory(self) -> str:
        """The file with the results of `theory_tasks`; empty if there are none."""
        return self.file("theory")

    def file(self, stage: str) -> str:
        """Name the file of the parameters, or of the theory; empty if there are no tasks."""
        tasks = self.tasks(stage)
        return f"{RESULTS}/{stage}/{self.name}-{result_key(stage, tasks)}.nc" if tasks else ""

    @cached_property
    def shards(self) -> list[str]:
        """The files of simulated networks."""
        return list(dict.fromkeys(path for one in self.networks.values() for path in one.files))

    def jobs(self) -> Iterator[tuple[str, str, dict[str, Task]]]:
        """Yield the stage, the file and the tasks of each job that computes."""
        for stage, path in ("parameters", self.parameters), ("theory", self.theory):
            if path:
                yield stage, path, self.tasks(stage)
        for place, one in self.networks.items():
            for path, block in zip(one.files, one.blocks, strict=True):
                yield "montecarlo", path, self.tasks("montecarlo", *place, **block._asdict())

    @property
    def results(self) -> list[str]:
        """The files that are merged."""
        return [*filter(None, (self.parameters, self.theory)), *self.shards]

    @cached_property
    def made_from(self) -> list[str]:
        """The results that are merged, whatever the files over which replicates are split."""
        networks = [
            f"{one.folder}/0-{len(one.task.arguments['networks']) - 1}"
            for one in self.networks.values()
        ]
        return [path for path in dict.fromkeys([self.parameters, self.theory, *networks]) if path]

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
    def drawing_key(self) -> str:
        """The key of the drawings and scores."""
        return key("figure", self.data_key, self.figure.config, self.drawing)

    @property
    def data_mark(self) -> str:
        """The file whose name holds the key of the merged file."""
        return f"{KEYS}/{self.name}/data-{self.data_key}"

    @property
    def drawing_mark(self) -> str:
        """The file whose name holds the key of the drawings and scores."""
        return f"{KEYS}/{self.name}/drawing-{self.drawing_key}"

    @property
    def marks(self) -> list[str]:
        """Both."""
        return [self.data_mark, self.drawing_mark]

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
        if mark not in self.marks or not Path(mark).exists():
            raise ChangedCodeError(mark)
