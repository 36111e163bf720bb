"""What a run of the workflow would make, why, and what that costs; nothing is started.

Snakemake itself says what would run. Why follows from comparing the results that are missing with
those that are there: a result's name holds all that it depends on, and its file tells it.
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
from giantstep.pipeline.planning.config import MAIN, load_config
from giantstep.pipeline.planning.costs import Cost
from giantstep.pipeline.planning.plan import (
    EigenvaluesTask,
    Plan,
    RecoveryTask,
    ShardTask,
    SpectrumTask,
    TheoryTask,
    make_plan,
)
from giantstep.pipeline.stages import shards
from giantstep.problems.canonical import plain
from giantstep.problems.problem import Problem

RESULTS = Path("results")
NEW = "not made yet"
FED = "what it is made from is made again"
CODE = "the code that computes it has changed"
# Changed parameters, and names of results, that are told before the rest is only counted.
_TOLD = 3


class NoPlanError(RuntimeError):
    """There is nothing to explain; the message says why."""


@dataclass(frozen=True)
class Job:
    """One job that would run.

    Attributes
    ----------
    stage : str
        The workflow's rule.
    name : str
        The key of its result, or the figure.
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
        The folder in which the workflow is run.
    figures : sequence of str
        Whose jobs; by default those of all figures of the configuration.
    overlays : sequence of str or Path
        Files that change some of `config/config.yaml`, as for `snakemake --configfile`.

    Raises
    ------
    InvalidConfigError
        With every fault of the configuration.
    NoPlanError
        If there is no such figure, or Snakemake cannot plan.
    """
    files = [Path(overlay).resolve() for overlay in overlays]
    plan = make_plan(project, load_config(project, files))
    for name in figures:
        if name not in plan.figures:
            known = ", ".join(plan.figures)
            raise NoPlanError(f"there is no figure {name} in {MAIN}: name one of {known}")
    pending = _pending(project, figures, files)
    situation = _Situation(project, plan, pending.pop(_MARKS, []))
    jobs = {situation.job(stage, path) for stage in pending for path in pending[stage]}
    return sorted(jobs, key=lambda job: (_STAGES.index(job.stage), job.name))


# The rule that marks a change of what figures are made from; it costs nothing, and is no news.
_MARKS = "identity"
# The others, in the order of what is made from what.
_STAGES = (
    "parameters", "saddle", "spectrum", "montecarlo", "eigenvalues", "recovery", "merge", "figures",
    "scores",
)  # fmt: skip
# How Snakemake's table begins.
_HEADER = "output_file\t"
_FORMATS = ("pdf", "svg", "png")
_FOLDERS = {
    "parameters": "srf",
    "saddle": "theory",
    "spectrum": "spectrum",
    "montecarlo": "montecarlo",
    "eigenvalues": "eigenvalues",
    "recovery": "recovery",
}


def _pending(
    project: Path, figures: Sequence[str], overlays: Sequence[Path]
) -> dict[str, list[Path]]:
    """Ask Snakemake which files it would make, by their rules."""
    targets = [f for name in figures for f in (f"figures/{name}.pdf", f"results/scores/{name}.csv")]
    command = [sys.executable, "-m", "snakemake", "-n", "--summary", *targets]
    if overlays:
        command += ["--configfile", *map(str, overlays)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    if done.returncode:
        raise NoPlanError(done.stderr.strip())
    _, header, rows = done.stdout.partition(_HEADER)  # a dry run says something before
    pending: dict[str, list[Path]] = {}
    for row in csv.DictReader(io.StringIO(header + rows), delimiter="\t"):
        if row["plan"] == "update pending" and row["rule"] in (*_STAGES, _MARKS):
            pending.setdefault(row["rule"], []).append(Path(row["output_file"]))
    return pending


class _Situation:
    """A plan, the results that are there, and marks of changes that are not."""

    def __init__(self, project: Path, plan: Plan, marks: Sequence[Path]) -> None:
        self.plan, self.project, self.results = plan, project, project / RESULTS
        # results/identity/<figure>/<merge or draw>-<hash>
        self.changed = {(mark.parent.name, mark.name.partition("-")[0]) for mark in marks}

    def job(self, stage: str, path: Path) -> Job:
        """Explain the job that makes a file."""
        if stage in _FOLDERS:
            key = str(path.relative_to(RESULTS / _FOLDERS[stage]).with_suffix(""))
            return Job(stage, key, self._why_computed(stage, key), self._cost(stage, key))
        return Job(stage, path.stem, self._why_made(stage, path.stem), self._cost(stage, path.stem))

    def _cost(self, stage: str, name: str) -> Cost:
        plan = self.plan
        if stage == "montecarlo":
            task = plan.montecarlo[name]
            held = shards.held((self.results / stage / name).parent)
            missing = len(set(task.networks) - held)
            return costs.shard(task, missing, costs.shard_threads(task))
        if stage == "saddle":
            solved = plan.theory[name]
            return costs.theory(solved, plan.parameters[solved.parameters])
        if stage == "eigenvalues":
            return costs.eigenvalues(plan.eigenvalues[name])
        if stage == "recovery":
            return costs.recovery(plan.recovery[name])
        of_figure = {"merge": costs.merging, "figures": costs.drawing, "scores": costs.scores}
        if stage in of_figure:
            return of_figure[stage](plan, plan.figures[name])
        return costs.spectrum() if stage == "spectrum" else costs.parameters()

    def _why_made(self, stage: str, name: str) -> str:
        """Say why a figure is merged, drawn or scored."""
        made = {
            "merge": [self.results / "figures" / f"{name}.nc"],
            "scores": [self.results / "scores" / f"{name}.csv"],
            "figures": [self.project / "figures" / f"{name}.{form}" for form in _FORMATS],
        }[stage]
        if not all(path.exists() for path in made):
            return NEW
        if stage == "merge" and (name, "merge") in self.changed:
            return "its curves, or the code that merges, have changed"
        if stage == "figures" and (name, "draw") in self.changed:
            return "its config, or the code that draws, has changed"
        return FED

    def _why_computed(self, stage: str, key: str) -> str:
        """Say why a result is computed that is named by all that it depends on."""
        folder = self.results / _FOLDERS[stage]
        if (folder / f"{key}.nc").exists():
            return "its last run was cut short"
        if stage == "montecarlo" and (held := shards.held((folder / key).parent)):
            missing = set(self.plan.montecarlo[key].networks) - held
            return "more replicates" if missing else "its replicates are there, in other shards"
        wanted = _flat(self._parameters(stage, key))
        others = [_flat(found) for found in self._unused(stage, key.partition("/")[0])]
        if not others:
            return NEW
        changed = min((_differences(other, wanted) for other in others), key=len)
        if not changed:
            return CODE
        more = f", and {len(changed) - _TOLD} more" if len(changed) > _TOLD else ""
        return f"parameters have changed: {', '.join(changed[:_TOLD])}{more}"

    def _parameters(self, stage: str, key: str) -> dict[str, Any]:
        """Give all parameters of a result, as `_recorded` reads them from a file."""
        tasks = {
            "parameters": self.plan.parameters,
            "saddle": self.plan.theory,
            "spectrum": self.plan.spectrum,
            "montecarlo": self.plan.montecarlo,
            "eigenvalues": self.plan.eigenvalues,
            "recovery": self.plan.recovery,
        }[stage]
        task: Problem | TheoryTask | SpectrumTask | ShardTask | EigenvaluesTask | RecoveryTask
        task = tasks[key]  # type: ignore[index]
        if isinstance(task, TheoryTask | SpectrumTask | ShardTask | EigenvaluesTask | RecoveryTask):
            found = {name: plain(value) for name, value in vars(task).items()}
            if isinstance(task, TheoryTask | SpectrumTask):
                found["problem"] = plain(self.plan.parameters[found.pop("parameters")])
            return found
        return {"problem": plain(task)}

    def _unused(self, stage: str, key: str) -> Iterator[dict[str, Any]]:
        """Read the parameters of results with the same gist that the plan does not refer to."""
        folder, gist = self.results / _FOLDERS[stage], key.rpartition("-")[0]
        for path in sorted(folder.glob(f"{gist}-*")):
            name = path.name.removesuffix(".nc")
            if name in self._used or name.rpartition("-")[0] != gist:
                continue
            files = sorted(path.glob("networks*.nc"))[:1] if path.is_dir() else [path]
            yield from (found for file in files if (found := self._recorded(file)))

    @cached_property
    def _used(self) -> set[str]:
        """The keys that the plan refers to."""
        figures = self.plan.figures.values()
        return {key for figure in figures for curve in figure.curves for key in curve.made_from}

    def _recorded(self, path: Path) -> dict[str, Any]:
        """Read from a result's file what it was computed from; nothing, if it does not say."""
        try:
            with xr.open_dataset(path, engine="netcdf4") as data:
                found: dict[str, Any] = json.loads(data.attrs["parameters"])
                made_from = json.loads(data.attrs["made_from"])
                if "root_seed" in data.attrs:
                    found["root_seed"] = int(data.attrs["root_seed"])
                if "residual" in data:
                    found["optimal"] = "optimal_ridge" in data
        except (OSError, KeyError, ValueError):
            return {}
        for key in made_from:  # a theory's own problem is the sRF
            found |= self._recorded(self.results / "srf" / f"{key}.nc")
        return found


def _flat(parameters: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Name nested parameters by their paths, without which replicates there are."""
    flat: dict[str, Any] = {}
    for name, value in parameters.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        elif name != "networks":
            flat[prefix + name] = value
    return flat


def _differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Word what differs between parameters."""
    return [
        f"{name} from {_short(old.get(name))} to {_short(new.get(name))}"
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]


def _short(value: Any) -> str:
    """Write a value, or how many and which a long list holds."""
    if isinstance(value, list) and len(value) > _TOLD:
        return f"{len(value)} values in [{value[0]}, {value[-1]}]"
    return "nothing" if value is None else str(value)


def told(jobs: Sequence[Job]) -> Iterator[str]:
    """Word an explanation, in lines: each stage with its cost, and its jobs by their reasons."""
    for stage in _STAGES:
        of_stage = [job for job in jobs if job.stage == stage]
        if not of_stage:
            continue
        yield f"{stage}: {_totals(of_stage)}"
        for why in dict.fromkeys(job.why for job in of_stage):
            names = [job.name for job in of_stage if job.why == why]
            more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
            yield f"    {why}: {', '.join(names[:_TOLD])}{more}"
    yield f"in all: {_totals(jobs)}" if jobs else "nothing would run"


def _totals(jobs: Sequence[Job]) -> str:
    """Word what jobs cost together."""
    seconds, disk = sum(job.cost.seconds for job in jobs), sum(job.cost.disk for job in jobs)
    memory = max(job.cost.memory for job in jobs)
    count = "1 job" if len(jobs) == 1 else f"{len(jobs)} jobs"
    return (
        f"{count}, {seconds / 60:,.1f} core-minutes, at most {memory:,.0f} MiB of memory each,"
        f" {disk:,.1f} MiB on disk"
    )
