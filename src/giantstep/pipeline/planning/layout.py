"""The stages of the workflow: what each is called, which files it makes, and which code it runs.

Plans, the rules of the workflow, `giantstep explain`, `verify` and `prune` all read this table. A
new stage is a line here, a module in `pipeline.stages`, and, unless it is theory, a rule;
`planning.tasks` defines what it computes, and `planning.plan` for which curves.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

RESULTS = Path("results")
# Files whose names hold what a figure is made from (workflow/rules/identity.smk).
IDENTITY = RESULTS / "identity"
_MODULES = "giantstep.pipeline.stages"


@dataclass(frozen=True)
class Stage:
    """One stage of the workflow.

    Attributes
    ----------
    name : str
        Also that of its module, and of its rule and logs, unless it is theory.
    files : tuple of str
        What is made of a task or a figure, from the project's folder; {} is its key or name.
    script : str
        What one job runs, in workflow/scripts; without its suffix.
    by_task : bool
        Whether a job is for a task, whose key covers the code; otherwise it is for a figure.
    along : str
        The dimension along which parts of a result can be computed again ("alpha", "network"); none
        if a result is computed again as a whole.
    sharded : bool
        Whether the network replicates of a task are split over several files, in one folder.
    batched : bool
        Whether it is theory, of which a job computes the results of many tasks (`batches`); the
        rule of these jobs is `theory`.
    """

    name: str
    files: tuple[str, ...]
    script: str = "compute"
    by_task: bool = True
    along: str = ""
    sharded: bool = False
    batched: bool = False

    @property
    def module(self) -> str:
        """The module that computes its results."""
        return f"{_MODULES}.{self.name}"

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return Path(self.files[0]).parent

    def paths(self, name: str) -> list[str]:
        """Return the files of one job, for a key or a figure."""
        return [pattern.format(name) for pattern in self.files]


_SHARDED: dict[str, Any] = {"along": "network", "sharded": True}
# In the order in which they run.
STAGES = {
    stage.name: stage
    for stage in (
        Stage("parameters", ("results/parameters/{}.nc",), batched=True),
        Stage("theory", ("results/theory/{}.nc",), along="alpha", batched=True),
        Stage("dimensions", ("results/dimensions/{}.nc",), batched=True),
        Stage("learning_rates", ("results/learning_rates/{}.nc",), batched=True),
        Stage("maps", ("results/maps/{}.nc",), batched=True),
        Stage("spectrum", ("results/spectrum/{}.nc",), batched=True),
        Stage("montecarlo", ("results/montecarlo/{}.nc",), "simulate", **_SHARDED),
        Stage("eigenvalues", ("results/eigenvalues/{}.nc",), "simulate", **_SHARDED),
        Stage("recovery", ("results/recovery/{}.nc",), "simulate", **_SHARDED),
        Stage("merge", ("results/figures/{}.nc",), "merge", by_task=False),
        Stage(
            "figures",
            ("figures/{}.pdf", "figures/{}.svg", "figures/{}.png"),
            "figures",
            by_task=False,
        ),
        Stage(
            "scores",
            ("results/scores/{}.csv", "results/scores/{}.html"),
            "scores",
            by_task=False,
        ),
    )
}
THEORY_STAGES = tuple(stage for stage in STAGES.values() if stage.batched)
TASK_STAGES = tuple(stage for stage in STAGES.values() if stage.by_task)
FIGURE_STAGES = tuple(stage for stage in STAGES.values() if not stage.by_task)
