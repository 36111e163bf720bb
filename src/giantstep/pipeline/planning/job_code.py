"""The code of a job: what its result depends on besides its parameters."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from giantstep.pipeline.planning.fingerprint import fingerprint, function_fingerprint
from giantstep.pipeline.planning.layout import Stage
from giantstep.pipeline.planning.tasks import RecoveryTask, Task
from giantstep.problems.canonical import digest
from giantstep.problems.targets import teacher_of


def code_of_task(root: Path, stage: Stage, task: Task) -> str:
    """Hash the code of a task's job: script, stage, all they import, and the table's entries.

    It is read once; see `read_code_anew`.

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
    if not isinstance(task, RecoveryTask) and teacher_of(task.problem.target) is None:
        functions += (task.problem.target,)  # the name of a teacher is all of it
    return _hash(_script(root, stage), (stage.module,), functions)


def code_of_figure(root: Path, stage: Stage, drawing: str) -> str:
    """Hash the code of a job that is for a figure, as in `code_of_task`.

    Parameters
    ----------
    root, stage
        As in `code_of_task`.
    drawing : str
        What draws the figure: a module, or the path of a file.
    """
    script = _hash(_script(root, stage))
    return digest(script, _hash(drawing)) if stage.name == "figures" else script


def read_code_anew() -> None:
    """Forget what was read: the code may have been edited since."""
    _hash.cache_clear()


# A plan has many jobs of the same code.
@cache
def _hash(script: str, loads: tuple[str, ...] = (), functions: tuple[str, ...] = ()) -> str:
    entries = [function_fingerprint(name) for name in functions]
    return digest(fingerprint(script, loads), entries)


def _script(root: Path, stage: Stage) -> str:
    return str(root / "workflow" / "scripts" / f"{stage.script}.py")
