"""The plan of one figure: its tasks, by the files that hold their results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from giantstep.problems.canonical import plain
from giantstep.questions.task import Task
from giantstep.workflow.code import ChangedCodeError
from giantstep.workflow.curves import Figure
from giantstep.workflow.keys import key

RESULTS = "results"
KEYS, MONTECARLO = f"{RESULTS}/keys", f"{RESULTS}/montecarlo"
# Tasks of one job: where a run is stopped, those of its jobs that have ended are kept.
_TOGETHER = 48
# Of a figure's YAML, what only its drawing shows.
_DRAWN = ("style", "caption")


def drawings(name: str) -> list[str]:
    """Name the drawings of a figure."""
    return [f"figures/{name}.{suffix}" for suffix in ("png", "svg", "pdf")]


def science(config: Mapping[str, Any]) -> Any:
    """Return the YAML of a figure without what only its drawing shows."""
    return plain({k: v for k, v in config.items() if k not in _DRAWN})


@dataclass(frozen=True)
class FigurePlan(Figure):
    """All that is made of one figure.

    Attributes
    ----------
    networks : mapping of (str, str) to mapping of str to Task
        Of each curve and role, the files over which its replicates are split, in their order.
    simulation : mapping
        Sizes of simulations and seed, as configured, but for `networks_per_job`.
    drawing : mapping of str to str
        Hashes of the project's files that draw it, by their paths.
    """

    networks: Mapping[tuple[str, str], Mapping[str, Task]]
    simulation: Mapping[str, Any]
    drawing: Mapping[str, str]

    @cached_property
    def solved(self) -> dict[str, dict[str, Task]]:
        """The files of its parameters and its theory, with the tasks of each by their groups."""
        tasks: dict[str, list[tuple[str, Task]]] = {"parameters": [], "theory": []}
        for curve in self.curves:
            for role, task in curve.theory.items():
                stage = role if role == "parameters" else "theory"
                tasks[stage].append((f"{curve.name}/{role}", task))
        return {
            f"{RESULTS}/{stage}/{self.name}-{key(stage, part)}.nc": part
            for stage, some in tasks.items()
            for part in (dict(some[k : k + _TOGETHER]) for k in range(0, len(some), _TOGETHER))
        }

    @cached_property
    def jobs(self) -> dict[str, dict[str, Task]]:
        """The file of each job that computes, with its tasks by the groups of the file."""
        shards = (shard for of_curve in self.networks.values() for shard in of_curve.items())
        return self.solved | {path: {"/": task} for path, task in shards}

    def files_of(self, stage: str) -> list[str]:
        """List the files of one stage; none if there are no tasks."""
        return [path for path in self.jobs if Path(path).parts[1] == stage]

    @cached_property
    def made_from(self) -> list[str]:
        """The results that are merged: files of what is solved, and folders of shards."""
        folders = (str(Path(path).parent) for path in self.files_of("montecarlo"))
        return list(dict.fromkeys([*self.solved, *folders]))

    @property
    def parameters_of_file(self) -> dict[str, Any]:
        """What its merged file states of its configuration."""
        return {"figure": science(self.config), "simulation": self.simulation}

    @cached_property
    def data_key(self) -> str:
        """The key of the merged file."""
        curves = [(c.name, c.panel, c.bulk, c.loss, c.dimension) for c in self.curves]
        return key("merge", self.parameters_of_file, curves, self.made_from)

    @cached_property
    def marks(self) -> dict[str, str]:
        """The files whose names hold a key: that of the "data", and that of the "drawing"."""
        drawing = key("figure", self.data_key, self.config, self.drawing)
        keys = {"data": self.data_key, "drawing": drawing}
        return {of: f"{KEYS}/{self.name}/{of}-{one}" for of, one in keys.items()}

    @property
    def merged(self) -> str:
        """The merged file."""
        return f"{RESULTS}/figures/{self.name}.nc"

    @property
    def source(self) -> str:
        """The name of its data, with their key: in the merged file, and in what is drawn of it."""
        return f"figures/{self.name}-{self.data_key}"

    @property
    def scores(self) -> list[str]:
        """The table of scores, and the page of it."""
        return [f"{RESULTS}/scores/{self.name}.{suffix}" for suffix in ("csv", "html")]

    @property
    def outputs(self) -> list[str]:
        """What is made from the merged file."""
        return drawings(self.name) + self.scores

    def check(self, path: str) -> None:
        """Check that this plan has a file whose name holds a key: that of a job, or a mark.

        Raises
        ------
        ChangedCodeError
            If code or configuration was edited since the run was planned.
        """
        if path not in self.jobs and path not in self.marks.values():
            raise ChangedCodeError(path)
