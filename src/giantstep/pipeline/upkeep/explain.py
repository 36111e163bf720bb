"""What a run of the workflow would do, why, and at what cost; nothing is run.

Snakemake says which files it would make. The reasons come from comparing the results that are
missing with those that exist: the name of a result covers all that it depends on, and its file
lists the parameters.
"""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import xarray as xr

from giantstep.pipeline.planning import costs
from giantstep.pipeline.planning.blocks import Simulation
from giantstep.pipeline.planning.config import load_config
from giantstep.pipeline.planning.costs import Cost
from giantstep.pipeline.planning.figure_plan import FigurePlan
from giantstep.pipeline.planning.layout import IDENTITY, STAGES, THEORY_STAGES, Stage
from giantstep.pipeline.planning.plan import Plan, make_plan
from giantstep.pipeline.planning.requests import unlisted_figures
from giantstep.pipeline.planning.shard_task import ShardTask
from giantstep.pipeline.planning.versions import library_versions, split_versions
from giantstep.pipeline.stages.result import task_parameters
from giantstep.pipeline.stages.shards import stored_networks
from giantstep.pipeline.upkeep.integrity import damaged_files

NEW = "not made yet"
UPSTREAM = "what it is made from is made again"
CODE = "the code that computes it has changed"
DAMAGED = "its file is damaged, or another file: the run sets it aside"
# How many changed parameters, and names of results, are listed before the others are counted.
_LISTED = 3


class NoPlanError(RuntimeError):
    """There is no plan to explain; the message says why."""


@dataclass(frozen=True)
class Job:
    """What a job would make of one task or figure; a job of theory makes many of these.

    Attributes
    ----------
    stage : str
        The workflow's rule.
    name : str
        The key of its task, or the figure.
    why : str
    cost : Cost
    """

    stage: str
    name: str
    why: str
    cost: Cost


def explain(
    project: Path, figures: Sequence[str] = (), overlays: Sequence[str | Path] = ()
) -> list[Job]:
    """List the jobs that the workflow would run, in the order of its stages.

    Parameters
    ----------
    project : Path
        Its folder.
    figures : sequence of str
        Listed or not; by default all figures of the configuration.
    overlays : sequence of str or Path
        Files that override parts of `config/config.yaml`, as for `snakemake --configfile`.

    Raises
    ------
    InvalidConfigError
        With every fault of the configuration, and for a figure without a YAML file.
    NoPlanError
        If Snakemake cannot plan.
    """
    files = [Path(overlay).absolute() for overlay in overlays]
    config = load_config(project, files)
    if unlisted := unlisted_figures(project, config, figures):
        config = config | {"figures": [*config["figures"], *unlisted]}
    plan = make_plan(project, config)
    damaged = [path.relative_to(project) for path, _ in damaged_files(project, plan, figures)]
    pending = _pending(project, figures, files)
    reasons = _Reasons(project, plan, pending.pop(_MARKS, []), damaged)
    paths = [path for path in damaged if IDENTITY not in path.parents]
    paths += [path for rule in pending for path in pending[rule]]
    paths += [
        path
        for name in figures or plan.figures
        for path in _made_again(plan.figures[name], damaged)
    ]
    jobs: dict[tuple[str, str], Job] = {}
    for path in paths:
        job = reasons.job(path)
        jobs.setdefault((job.stage, job.name), job)  # a damaged file gives the reason
    order = list(STAGES)
    return sorted(jobs.values(), key=lambda job: (order.index(job.stage), job.name))


def _made_again(figure: FigurePlan, damaged: Sequence[Path]) -> Iterator[Path]:
    """List what a run makes again of a figure, since it sets aside what that is made from."""
    marks = [path.name for path in damaged if path.parent == IDENTITY / figure.name]
    stages = {name.partition("-")[0] for name in marks}
    (merged,) = STAGES["merge"].paths(figure.name)
    if "merge" in stages or Path(merged) in damaged:
        stages |= {"figures", "scores"}
    if not {str(path) for path in damaged}.isdisjoint(figure.files):
        stages.add("merge")
    yield from (Path(STAGES[stage].paths(figure.name)[0]) for stage in stages)


# The rule that marks a change in what figures are made from; it takes no time, and is not listed.
_MARKS = "identity"
# Why what is made from a merged file is made again, where the merged file is not.
_REMADE = {
    "figures": "its config, or the code that draws, has changed",
    "scores": "the code that scores has changed",
}
_THEORY = {stage.folder for stage in THEORY_STAGES}
# How Snakemake's table begins.
_HEADER = "output_file\t"
# How it begins to say which profile it uses.
_PROFILE = "Using "


def _pending(
    project: Path, figures: Sequence[str], overlays: Sequence[Path]
) -> dict[str, list[Path]]:
    """Ask Snakemake which files it would make, by their rules."""
    targets = [STAGES[stage].paths(name)[0] for name in figures for stage in ("figures", "scores")]
    command = [sys.executable, "-m", "snakemake", "-n", "--summary", *targets]
    if overlays:
        command += ["--configfile", *map(str, overlays)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    if done.returncode:
        said = f"{done.stderr}\n{done.stdout}".splitlines()
        raise NoPlanError("\n".join(x for x in said if x and not x.startswith(_PROFILE)))
    _, header, rows = done.stdout.partition(_HEADER)  # a dry run prints something before
    pending: dict[str, list[Path]] = {}
    for row in csv.DictReader(io.StringIO(header + rows), delimiter="\t"):
        path = Path(row["output_file"])
        # A job of theory leaves the results that exist as they are.
        kept = path.parent in _THEORY and (project / path).exists()
        if row["plan"] == "update pending" and not kept:
            pending.setdefault(row["rule"], []).append(path)
    return pending


class _Reasons:
    """Finds the reasons of jobs, from a plan, the results that exist, and marks of changes."""

    def __init__(
        self, project: Path, plan: Plan, marks: Sequence[Path], damaged: Sequence[Path]
    ) -> None:
        self.project, self.plan, self.damaged = project, plan, frozenset(damaged)
        # results/identity/<figure>/<stage>-<hash>
        self.changed = {(mark.parent.name, mark.name.partition("-")[0]) for mark in marks}

    def job(self, path: Path) -> Job:
        """Explain the job that makes a file."""
        stage = next(stage for stage in STAGES.values() if stage.folder in path.parents)
        name = str(path.relative_to(stage.folder).with_suffix(""))
        if not stage.by_task:
            cost = costs.of_figure(stage.name, self.plan, self.plan.figures[name])
            why = DAMAGED if path in self.damaged else self._why_made(stage, name)
            return Job(stage.name, name, why, cost)
        why = DAMAGED if path in self.damaged else self._why_computed(stage, name)
        return Job(stage.name, name, why, self._cost(stage, name, why == DAMAGED))

    def _cost(self, stage: Stage, key: str, damaged: bool) -> Cost:
        task = self.plan.tasks[stage.name][key]
        if not isinstance(task, Simulation):
            return costs.of_task(task)
        missing = set(task.networks) - (set() if damaged else self._stored(stage, key))
        threads = costs.shard_threads(task) if isinstance(task, ShardTask) else 1
        return costs.of_task(task, len(missing), threads)

    def _stored(self, stage: Stage, key: str) -> set[int]:
        """List the replicates that the folder of a shard holds."""
        return stored_networks((self.project / stage.folder / key).parent)

    def _why_made(self, stage: Stage, figure: str) -> str:
        """Say why a figure is merged, drawn or scored."""
        if not all((self.project / path).exists() for path in stage.paths(figure)):
            return NEW
        merged_anew = (figure, "merge") in self.changed
        if stage.name == "merge" and merged_anew:
            return "its curves, or the code that merges, have changed"
        if merged_anew or (figure, stage.name) not in self.changed:
            return UPSTREAM
        return _REMADE[stage.name]

    def _why_computed(self, stage: Stage, key: str) -> str:
        """Say why a result is computed, whose name covers all that it depends on."""
        if all((self.project / path).exists() for path in stage.paths(key)):
            return "its last run was interrupted"
        task = self.plan.tasks[stage.name][key]
        if isinstance(task, Simulation) and (stored := self._stored(stage, key)):
            missing = set(task.networks) - stored
            return "more replicates" if missing else "its replicates exist, in other shards"
        wanted = _flat(task_parameters(task))
        others = [_flat(found) for found in self._unused(stage, key.partition("/")[0])]
        if not others:
            return NEW
        changed = min((_differences(other, wanted) for other in others), key=len)
        if not changed:
            return CODE
        more = f", and {len(changed) - _LISTED} more" if len(changed) > _LISTED else ""
        return f"parameters have changed: {', '.join(changed[:_LISTED])}{more}"

    def _unused(self, stage: Stage, key: str) -> Iterator[dict[str, Any]]:
        """Read the parameters of results of a similar name that the plan does not refer to."""
        folder, slug = self.project / stage.folder, key.rpartition("-")[0]
        for path in sorted(folder.glob(f"{slug}-*")):
            name = path.name.removesuffix(".nc")
            if name in self._used or name.rpartition("-")[0] != slug:
                continue
            files = sorted(path.glob("networks*.nc"))[:1] if path.is_dir() else [path]
            yield from (found for file in files if (found := _recorded(file)))

    @cached_property
    def _used(self) -> set[str]:
        """The keys that the plan refers to."""
        figures = self.plan.figures.values()
        return {key for figure in figures for curve in figure.curves for key in curve.made_from}


def _recorded(path: Path) -> dict[str, Any]:
    """Read the parameters of a result from its file; none, if it lists none."""
    try:
        with xr.open_dataset(path, engine="netcdf4") as data:
            found: dict[str, Any] = json.loads(data.attrs["parameters"])
            if "root_seed" in data.attrs:
                found["root_seed"] = int(data.attrs["root_seed"])
    except (OSError, KeyError, ValueError):
        return {}
    return found


def _flat(parameters: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Name nested parameters by their paths, leaving out the numbers of replicates."""
    flat: dict[str, Any] = {}
    for name, value in parameters.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        elif name != "networks":
            flat[prefix + name] = value
    return flat


def _differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Describe what differs between parameters."""
    return [
        f"{name} from {_short(old.get(name))} to {_short(new.get(name))}"
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]


def _short(value: Any) -> str:
    """Write a value; of a long list, only its length and ends."""
    if isinstance(value, list) and len(value) > _LISTED:
        return f"{len(value)} values in [{value[0]}, {value[-1]}]"
    return "nothing" if value is None else str(value)


def summarise_jobs(jobs: Sequence[Job]) -> Iterator[str]:
    """Summarise jobs in lines: each stage with its cost, and its jobs by their reasons."""
    for stage in STAGES:
        of_stage = [job for job in jobs if job.stage == stage]
        if not of_stage:
            continue
        yield f"{stage}: {_totals(of_stage)}"
        for why in dict.fromkeys(job.why for job in of_stage):
            names = [job.name for job in of_stage if job.why == why]
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            yield f"    {why}: {', '.join(names[:_LISTED])}{more}"
    yield f"in all: {_totals(jobs)}" if jobs else "nothing would run"


def _totals(jobs: Sequence[Job]) -> str:
    """Summarise the cost of jobs."""
    seconds, disk = sum(job.cost.seconds for job in jobs), sum(job.cost.disk for job in jobs)
    memory = max(job.cost.memory for job in jobs)
    count = "1 result" if len(jobs) == 1 else f"{len(jobs)} results"
    return (
        f"{count}, {seconds / 60:,.1f} core-minutes, at most {memory:,.0f} MiB of memory each,"
        f" {disk:,.1f} MiB on disk"
    )


def library_notes(project: Path, figures: Sequence[str] = ()) -> Iterator[str]:
    """Say which merged files come from other versions of libraries than those installed.

    Parameters
    ----------
    project : Path
    figures : sequence of str
        By default all that have been merged.
    """
    stage, installed = STAGES["merge"], library_versions()
    names = figures or sorted(path.stem for path in (project / stage.folder).glob("*.nc"))
    for path in (project / path for name in names for path in stage.paths(name)):
        others = [one for one in _libraries(path) if one != installed]
        if others:
            yield (
                f"{path.stem} comes from other versions of libraries than those installed"
                f" ({'; '.join(others)}; installed: {installed}): `strict_versions: true` in the"
                " config computes it again"
            )


def _libraries(path: Path) -> list[str]:
    """Read which versions of libraries a file comes from; none, if it says none."""
    try:
        with xr.open_dataset(path, engine="netcdf4") as data:
            return split_versions(data.attrs["libraries"])
    except (OSError, KeyError, ValueError):
        return []
