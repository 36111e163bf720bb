"""What a run of the workflow would make, why, and at what cost: the plan beside the files.

The name of a result covers all that it depends on, so one that is missing is new, or of other
parameters or code than its predecessor. Merged files and drawings must not be older than what they
are made from; Snakemake lets this pass if it has noted the checksum of a small file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from giantstep.questions.costs import Cost, cost_of, total_cost
from giantstep.workflow.code import CODE
from giantstep.workflow.figure_plan import FigurePlan
from giantstep.workflow.plan import Plan

NEW = "not made yet"
CHANGED = "its parameters, its configuration, what it is made from or code has changed"
NETWORKS = "more replicates"
# Of a merge or a drawing.
_SMALL = Cost(2.0, 0.0)
# How many names of results are listed before the others are counted.
_LISTED = 3


class Job(NamedTuple):
    """A job that is to run: its rule, the name of its file or figure, and why it runs."""

    stage: str
    name: str
    why: str
    cost: Cost = _SMALL


def missing_jobs(plan: Plan, figures: Iterable[str] = ()) -> list[Job]:
    """List the jobs that a run would start, in the order of the stages.

    Parameters
    ----------
    plan : Plan
    figures : iterable of str
        Listed or not; by default all figures of the configuration.

    Raises
    ------
    InvalidConfigError
        With every fault of a figure.
    """
    names = figures or plan.config["figures"]
    jobs = {job for name in names for job in _jobs(plan.root, plan.figure(name))}
    return sorted(jobs, key=lambda job: ([*CODE].index(job.stage), job.name))


def _jobs(root: Path, figure: FigurePlan) -> Iterator[Job]:
    """List the jobs of one figure; once it is merged, it does not need its results."""

    def written(*paths: str) -> list[int]:
        return [(root / path).stat().st_mtime_ns for path in paths if (root / path).exists()]

    def made(outputs: Sequence[str], mark: str, *inputs: str) -> bool:
        done, key = written(*outputs), written(mark)
        return len(done) == len(outputs) and bool(key) and min(done) >= max(key + written(*inputs))

    why = CHANGED if written(figure.merged) else NEW
    merged = made([figure.merged], figure.marks["data"], *figure.jobs)
    if not merged:
        for path, tasks in figure.jobs.items():
            if not written(path):
                _, stage, name = path.removesuffix(".nc").split("/", 2)
                others = any((root / path).parent.glob("[0-9]*.nc"))  # of the same networks
                cost = total_cost([*map(cost_of, tasks.values())])
                yield Job(stage, name, NETWORKS if others else why, cost)
        yield Job("merge", figure.name, why)
    if not merged or not made(figure.outputs, figure.marks["drawing"], figure.merged):
        is_new = len(written(*figure.outputs)) < len(figure.outputs)
        yield Job("figure", figure.name, NEW if is_new else CHANGED)


def summarise_jobs(jobs: Sequence[Job]) -> Iterator[str]:
    """Summarise jobs in lines: each stage by its reasons, with cost and names."""
    groups: dict[tuple[str, str], list[Job]] = {}
    for job in jobs:
        groups.setdefault((job.stage, job.why), []).append(job)
    for (stage, why), some in groups.items():
        names = [job.name for job in some[:_LISTED]] + ["..."] * (len(some) > _LISTED)
        yield f"{stage}: {_totals(some)}\n    {why}: {', '.join(names)}"
    yield f"in all: {_totals(jobs)}" if jobs else "all is made: a run has nothing to do"


def _totals(jobs: Sequence[Job]) -> str:
    """Summarise the cost of jobs."""
    seconds, memory = total_cost([job.cost for job in jobs])
    count = "1 job" if len(jobs) == 1 else f"{len(jobs)} jobs"
    each = f", at most {memory:,.0f} MiB of memory each" if memory else ""
    return f"{count}, {seconds / 60:,.1f} core-minutes{each}"
