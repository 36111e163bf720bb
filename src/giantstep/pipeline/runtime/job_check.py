"""Whether a job makes what the names of its files say, by the code as it is now.

These names were made with the plan: the key of a result from its task and its code, the mark of a
figure from all that its files are made from. A job makes them again from what its rule hands to it.
So neither an edit during a run nor one of a rule can put anything else under a planned name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from giantstep.pipeline.planning.identities import mark, merged_name
from giantstep.pipeline.planning.job_code import use_record
from giantstep.pipeline.planning.keys import result_keys
from giantstep.pipeline.planning.layout import STAGES, THEORY_STAGES, Stage
from giantstep.pipeline.planning.tasks import Task
from giantstep.pipeline.planning.versions import library_versions

# A rule of theory is named by its batch; it has a prefix if another workflow uses it as a module.
_THEORY_RULE = re.compile(r"(?:^|_)theory_\w+_\d+$")
(_THEORY_SCRIPT,) = {stage.script for stage in THEORY_STAGES}


class ChangedJobError(RuntimeError):
    """A job that would not make what was planned under the names of its files."""


def check_job(job: Any, script: str) -> None:
    """Check that a job's files have the names of what it makes.

    Parameters
    ----------
    job : snakemake.script.Snakemake
        Of a task, with `params.task`; of theory, with `params.tasks`; or of a figure, with
        `params.figure`, its mark as `input.mark`, and `params.name`, which is inside its merged
        file. `params.code` is the plan's record of code.
    script : str
        The file that runs.

    Raises
    ------
    ChangedJobError
    """
    try:
        use_record(Path(script).parents[2], job.params.code)
        agrees = _agrees(job, Path(script))
    # What cannot even be compared: code that cannot be read, parameters that are missing or odd.
    except (AttributeError, ImportError, LookupError, OSError, SyntaxError, TypeError, ValueError):
        agrees = False
    if not agrees:
        raise ChangedJobError(
            f"{job.output[0]} is not the name of what this job would make, so nothing was written:"
            " if code was edited after the run was planned, run the same command again, which"
            f" plans anew; otherwise the rule {job.rule} in workflow/rules hands other parameters"
            " to the job than planned, and must hand on the plan's"
        )


def _agrees(job: Any, script: Path) -> bool:
    """Compare a job's files, and its script, with what its rule hands to it."""
    root = script.parents[2]
    if _THEORY_RULE.search(job.rule):
        return script.stem == _THEORY_SCRIPT and _names_theory(root, job)
    stage = STAGES[_stage(job.rule)]
    names = _names_task if stage.by_task else _names_figure
    return script.stem == stage.script and not stage.batched and names(root, stage, job)


def check_rules(workflow: Any) -> None:
    """Check that every stage has its rule, which runs the script of the stage.

    Another script, or a shell command, would not check its job.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow

    Raises
    ------
    ChangedJobError
    """
    scripts: dict[str, list[str]] = {}
    for rule in workflow.rules:
        scripts.setdefault(_stage(rule.name), []).append(rule.script or "no script")
    for stage in STAGES.values():
        if not stage.batched:
            _check_scripts(stage.name, stage.script, scripts.get(stage.name, []))
    for rule, found in scripts.items():
        if _THEORY_RULE.search(rule):
            _check_scripts("theory", _THEORY_SCRIPT, found)


def _check_scripts(rule: str, script: str, found: list[str]) -> None:
    expected = f"../scripts/{script}.py"
    if expected not in found:
        runs = f"runs {found[0]}" if found else "is missing"
        raise ChangedJobError(
            f"the rule {rule} in workflow/rules {runs}: it must have the script {expected}, which"
            " checks that results are what their names say"
        )


def _stage(rule: str) -> str:
    """Return the stage of a rule, which has a prefix if another workflow uses it as a module."""
    return next((stage for stage in STAGES if f"_{rule}".endswith(f"_{stage}")), rule)


def _names_task(root: Path, stage: Stage, job: Any) -> bool:
    return _names(root, [(stage.name, job.params.task)], job)


def _names_theory(root: Path, job: Any) -> bool:
    return all(STAGES[stage].batched for stage, _ in job.params.tasks) and _names(
        root, job.params.tasks, job
    )


def _names(root: Path, tasks: Sequence[tuple[str, Task]], job: Any) -> bool:
    def names(versions: str) -> list[str]:
        return [
            path
            for stage, task in tasks
            for key in result_keys(root, STAGES[stage], [task], versions)
            for path in STAGES[stage].paths(key)
        ]

    # Versions of libraries are part of keys if the config asks for it.
    return list(job.output) == names("") or list(job.output) == names(library_versions())


def _names_figure(root: Path, stage: Stage, job: Any) -> bool:
    figure = job.params.figure
    merged = [] if stage.name == "merge" else STAGES["merge"].paths(figure.name)
    return (
        job.input.mark == str(mark(root, figure, stage.name))
        and list(job.output) == stage.paths(figure.name)
        and (not merged or job.input.data == merged[0])
        and job.params.name == merged_name(root, figure)
        and (not figure.versions or figure.versions == library_versions())
    )
