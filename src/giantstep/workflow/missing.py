"""What a run of the workflow would make, why, and at what cost: the plan beside the files.

The name of a result covers all that it depends on. So one that is missing is new, or has
predecessors of other parameters or code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from giantstep.questions.costs import Cost, cost_of, total_cost
from giantstep.workflow.figure_plan import FigurePlan
from giantstep.workflow.plan import Plan

NEW = "not made yet"
CHANGED = "its parameters, or the code that computes it, have changed"
NETWORKS = "more replicates"
REMADE = "what it is made from is made again"
_CHANGED = {
    "merge": "its curves, or the code that merges, have changed",
    "figure": "its data, its config, or the code that draws, have changed",
}
_STAGES = ("parameters", "theory", "montecarlo", "merge", "figure")
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
    names = figures or plan.figures
    jobs = {job for name in names for job in _jobs(plan.root, plan.figure(name))}
    return sorted(jobs, key=lambda job: (_STAGES.index(job.stage), job.name))


def _jobs(root: Path, figure: FigurePlan) -> Iterator[Job]:
    """List the jobs of one figure; once it is merged, it does not need its results."""
    results = [*figure.solved, *figure.shards]
    merging = _why_made(root, "merge", [figure.merged], [figure.marks["data"], *results])
    drawing = _why_made(root, "figure", figure.outputs, [figure.marks["drawing"], figure.merged])
    if merging:
        for stage, path, tasks in figure.jobs():
            if not (root / path).exists():
                name = path.partition(f"{stage}/")[2].removesuffix(".nc")
                cost = total_cost([*map(cost_of, tasks.values())])
                yield Job(stage, name, _why_missing(root / path), cost)
        yield Job("merge", figure.name, merging)
    if drawing or merging:
        yield Job("figure", figure.name, drawing or REMADE)


def _why_made(root: Path, stage: str, outputs: Sequence[str], inputs: Sequence[str]) -> str:
    """Say why a figure is merged or drawn, if it is; the first of the inputs is its key file."""
    made = [root / path for path in outputs]
    if not all(path.exists() for path in made):
        return NEW
    if not (root / inputs[0]).exists():
        return _CHANGED[stage]
    times = [path.stat().st_mtime_ns for path in map(root.joinpath, inputs) if path.exists()]
    return REMADE if min(path.stat().st_mtime_ns for path in made) < max(times) else ""


def _why_missing(path: Path) -> str:
    """Say why a result is to be computed, whose name, or whose folder's, ends in a key."""
    if any(path.parent.glob("[0-9]*.nc")):  # other shards of the same networks
        return NETWORKS
    named = path.parent if path.stem[0].isdigit() else path
    before = named.parent.glob(f"{named.name.rpartition('-')[0]}-*")
    return CHANGED if any(before) else NEW


def summarise_jobs(jobs: Sequence[Job]) -> Iterator[str]:
    """Summarise jobs in lines: each stage with its cost, and its jobs by their reasons."""
    for stage in _STAGES:
        of_stage = [job for job in jobs if job.stage == stage]
        if of_stage:
            yield f"{stage}: {_totals(of_stage)}"
        for why in dict.fromkeys(job.why for job in of_stage):
            names = [job.name for job in of_stage if job.why == why]
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            yield f"    {why}: {', '.join(names[:_LISTED])}{more}"
    yield f"in all: {_totals(jobs)}" if jobs else "all is made: a run has nothing to do"


def _totals(jobs: Sequence[Job]) -> str:
    """Summarise the cost of jobs."""
    seconds, memory = total_cost([job.cost for job in jobs])
    count = "1 job" if len(jobs) == 1 else f"{len(jobs)} jobs"
    return f"{count}, {seconds / 60:,.1f} core-minutes, at most {memory:,.0f} MiB of memory each"
