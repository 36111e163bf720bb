"""The plan of one figure: its tasks, by the files that hold their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from giantstep.questions.task import Task
from giantstep.workflow.curves import Figure
from giantstep.workflow.keys import ChangedCodeError, key, result_key
from giantstep.workflow.shards import Block, with_networks

RESULTS = "results"
KEYS, MONTECARLO = f"{RESULTS}/keys", f"{RESULTS}/montecarlo"
# Of a figure's YAML, what only its drawing shows.
_DRAWN = ("style", "caption")


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
        Hashes of the project's files that its drawing and its YAML read, by their paths.
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

    @cached_property
    def parameters(self) -> str:
        """The file with the results of `parameter_tasks`; empty if there are none."""
        return self._file("parameters", self.parameter_tasks)

    @cached_property
    def theory(self) -> str:
        """The file with the results of `theory_tasks`; empty if there are none."""
        return self._file("theory", self.theory_tasks)

    def _file(self, stage: str, tasks: Mapping[str, Task]) -> str:
        return f"{RESULTS}/{stage}/{self.name}-{result_key(stage, tasks)}.nc" if tasks else ""

    def jobs(self) -> Iterator[tuple[str, str, dict[str, Task]]]:
        """Yield the stage, the file and the tasks of each job that computes."""
        if self.parameters:
            yield "parameters", self.parameters, self.parameter_tasks
        if self.theory:
            yield "theory", self.theory, self.theory_tasks
        for one in self.networks.values():
            for path, block in zip(one.files, one.blocks, strict=True):
                shard = with_networks(one.task, range(block.first, block.last + 1))
                yield "montecarlo", path, {"/": shard}

    @cached_property
    def results(self) -> list[str]:
        """The files that are merged."""
        return list(dict.fromkeys(path for _, path, _ in self.jobs()))

    @cached_property
    def made_from(self) -> list[str]:
        """The results that are merged, whatever the files over which replicates are split."""
        networks = [
            f"{one.folder}/0-{len(one.task.arguments['networks']) - 1}"
            for one in self.networks.values()
        ]
        return [path for path in dict.fromkeys([self.parameters, self.theory, *networks]) if path]

    @property
    def science(self) -> dict[str, Any]:
        """Its YAML without what only its drawing shows."""
        return {k: v for k, v in self.figure.config.items() if k not in _DRAWN}

    @cached_property
    def data_key(self) -> str:
        """The key of the merged file."""
        curves = [(c.name, c.panel, c.bulk, c.loss, c.dimension) for c in self.figure.curves]
        return key("merge", self.science, curves, self.made_from, self.simulation, self.seed)

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

    @property
    def targets(self) -> list[str]:
        """All that a run makes of the figure, with the keys on which it depends."""
        return [*self.marks, self.merged, *self.outputs]

    def check_current(self, mark: str) -> None:
        """Check that a mark is still there, and that its key is what the code makes now.

        Raises
        ------
        ChangedCodeError
            If code or configuration was edited since the run was planned.
        """
        now = replace(self)  # without the keys that this one has made
        if mark not in now.marks or not Path(mark).exists():
            raise ChangedCodeError(mark)
