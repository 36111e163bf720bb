"""The stages of the workflow: what each is called, which files it makes, and which code it runs.

Plans, the rules of the workflow, `giantstep explain`, `verify` and `prune` all read this table. A
new stage is a line here, a module in `pipeline.stages`, and a rule; `planning.tasks` defines what
it computes, and `planning.plan` for which curves.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

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
        Also that of its rule, its logs and its module.
    files : tuple of str
        What one job makes, from the project's folder; {} is the key of its task, or the figure.
    script : str
        What one job runs, in workflow/scripts; without its suffix.
    by_task : bool
        Whether a job is for a task, whose key covers the code; otherwise it is for a figure.
    along : str
        The dimension along which parts of a result can be computed again ("alpha", "network"); none
        if a result is computed again as a whole.
    sharded : bool
        Whether the network replicates of a task are split over several files, in one folder.
    """

    name: str
    files: tuple[str, ...]
    script: str = "compute"
    by_task: bool = True
    along: str = ""
    sharded: bool = False

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


# In the order in which they run.
STAGES = {
    stage.name: stage
    for stage in (
        Stage("parameters", ("results/parameters/{}.nc",)),
        Stage("theory", ("results/theory/{}.nc",), along="alpha"),
        Stage("dimensions", ("results/dimensions/{}.nc",)),
        Stage("learning_rates", ("results/learning_rates/{}.nc",)),
        Stage("maps", ("results/maps/{}.nc",)),
        Stage("spectrum", ("results/spectrum/{}.nc",)),
        Stage(
            "montecarlo",
            ("results/montecarlo/{}.nc",),
            "montecarlo",
            along="network",
            sharded=True,
        ),
        Stage("eigenvalues", ("results/eigenvalues/{}.nc",), along="network"),
        Stage("recovery", ("results/recovery/{}.nc",), along="network"),
        Stage("merge", ("results/figures/{}.nc",), "merge", by_task=False),
        Stage(
            "figures",
            ("figures/{}.pdf", "figures/{}.svg", "figures/{}.png"),
            "figures",
            by_task=False,
        ),
        Stage("scores", ("results/scores/{}.csv",), "scores", by_task=False),
    )
}
TASK_STAGES = tuple(stage for stage in STAGES.values() if stage.by_task)
FIGURE_STAGES = tuple(stage for stage in STAGES.values() if not stage.by_task)
