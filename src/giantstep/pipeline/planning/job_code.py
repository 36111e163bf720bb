"""The code of a job: what its result depends on besides its parameters.

To hash it takes some tenths of a second in every new process. So a plan hands its hashes to its
jobs, which use them as long as all files of code hold the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from giantstep.pipeline.planning.fingerprint import (
    code_bytes,
    fingerprint,
    function_fingerprint,
)
from giantstep.pipeline.planning.layout import STAGES, Stage
from giantstep.pipeline.planning.tasks import RecoveryTask, Task
from giantstep.problems.canonical import digest
from giantstep.problems.targets import teacher_of


def code_of_task(root: Path, stage: Stage, task: Task) -> str:
    """Hash the code of a task's job: script, stage, all they import, and the table's entries.

    It is read once; see `read_code_anew` and `use_record`.

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
    _hashes.clear()


# A script, or what draws a figure; modules that it loads; entries of the table of functions.
_Asked = tuple[str, tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class CodeRecord:
    """Hashes of code, and one of the bytes of all files of code when it was read."""

    files: str = ""
    hashes: Mapping[_Asked, str] = field(default_factory=dict)


# A plan has many jobs of the same code.
_hashes: dict[_Asked, str] = {}


def _hash(script: str, loads: tuple[str, ...] = (), functions: tuple[str, ...] = ()) -> str:
    asked = script, loads, functions
    if asked not in _hashes:
        entries = [function_fingerprint(name) for name in functions]
        _hashes[asked] = digest(fingerprint(script, loads), entries)
    return _hashes[asked]


def record(root: Path, files: str) -> CodeRecord:
    """Return the hashes that were made since `files` was made by `code_bytes`, if it still holds.

    Parameters
    ----------
    root : Path
        The folder that holds workflow/.
    files : str
    """
    if files != code_bytes(root):
        return CodeRecord()
    scripts = {_script(root, stage) for stage in STAGES.values()}
    # Files of a project that draw figures are not among those of `code_bytes`.
    covered = [asked for asked in _hashes if asked[0] in scripts or not asked[0].endswith(".py")]
    return CodeRecord(files, {asked: _hashes[asked] for asked in covered})


def use_record(root: Path, given: CodeRecord) -> None:
    """Read code anew, or use the hashes of a record, if all files hold the same bytes as then."""
    read_code_anew()
    if given.files and given.files == code_bytes(root):
        _hashes.update(given.hashes)


def _script(root: Path, stage: Stage) -> str:
    return str(root / "workflow" / "scripts" / f"{stage.script}.py")
