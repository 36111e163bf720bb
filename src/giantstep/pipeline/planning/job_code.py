"""The code of a job: what its result depends on besides its parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from giantstep.pipeline.planning.fingerprint import (
    UntraceableCodeError,
    fingerprint,
    function_fingerprint,
)
from giantstep.pipeline.planning.layout import Stage
from giantstep.pipeline.planning.tasks import RecoveryTask, Task
from giantstep.problems.canonical import digest


class ChangedCodeError(RuntimeError):
    """Code was edited after the run was planned."""


@dataclass(frozen=True)
class JobCode:
    """The code of a job, as it was when the job was planned.

    Attributes
    ----------
    script : str
        The path of what the job runs.
    loads : tuple of str
        The modules that the script imports by name.
    functions : tuple of str
        The entries of the table of functions that the job looks up.
    identity : str
        A hash of all of it.
    """

    script: str
    loads: tuple[str, ...]
    functions: tuple[str, ...] = ()
    identity: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "identity", self._now())

    def check(self) -> None:
        """Check that the code is still what it was when the job was planned.

        Raises
        ------
        ChangedCodeError
        """
        try:
            unchanged = self._now() == self.identity
        except (ImportError, OSError, SyntaxError, UntraceableCodeError):
            unchanged = False
        if not unchanged:
            raise ChangedCodeError(
                f"{Path(self.script).name}, or code that it uses, was edited after the run was"
                " planned: nothing was written; run the same command again, which plans anew"
            )

    def _now(self) -> str:
        entries = [function_fingerprint(name) for name in self.functions]
        return digest(fingerprint(self.script, self.loads), entries)


# A plan has many jobs of the same code.
_planned = cache(JobCode)


def code_of_task(root: Path, stage: Stage, task: Task) -> JobCode:
    """Find the code of a task's job.

    Parameters
    ----------
    root : Path
        The folder that holds workflow/.
    stage : Stage
    task : Task

    Raises
    ------
    UntraceableCodeError
        If not all of it can be followed.
    """
    functions: tuple[str, ...] = (task.problem.activation,)
    if not isinstance(task, RecoveryTask):
        functions += (task.problem.target,)
    return _planned(_script(root, stage), (stage.module,), functions)


def code_of_figure(root: Path, stage: Stage, figure: str) -> JobCode:
    """Find the code of a job that is for a figure, as in `code_of_task`."""
    drawing = (f"giantstep.figures.{figure}",) if stage.name == "figures" else ()
    return _planned(_script(root, stage), drawing)


def _script(root: Path, stage: Stage) -> str:
    return str(root / "workflow" / "scripts" / f"{stage.script}.py")
