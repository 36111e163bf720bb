"""The code that results depend on, as keys hash it and jobs watch it.

A job looks at the code before it imports it, so this module imports nothing that computes.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

from giantstep.validation import RefusalError

PACKAGE = Path(__file__).parents[1]
_FLAT = "arrays.py", "extras.py", "registry.py", "suggestions.py", "validation.py"
_ALL = "numerics", "problems", *_FLAT
_STORED = ("files.py", "workflow/jobs.py", "workflow/store.py")
_ANSWERS = "vocabulary.py", "vocabulary.csv", "progress.py"
_THEORY = (*_ALL, *_STORED, "theory", "questions", *_ANSWERS, "simulation/arithmetic.py")
# Import-linter holds that a job computes with no other code of the package (pyproject.toml).
CODE = {
    "parameters": _THEORY,
    "theory": _THEORY,
    "montecarlo": (*_ALL, *_STORED, "simulation", "questions/task.py", "questions/networks.py"),
    "merge": (*_THEORY, "simulation", "workflow"),
    "figure": ("__init__.py", "figures", "workflow"),
}
# In the folder workflow/. Rules of the other stages are in no key: their jobs find their tasks by
# the names of their files, so that a rule can change no number.
_RULES = {"merge": ("rules", "scripts/merge.py"), "figure": ("rules", "scripts/figure.py")}
# Modules and rules, and the tables and styles that they read.
_KINDS = (".py", ".smk", ".csv", ".toml", ".mplstyle")
_LONG_TEXT = rb'"{3}(?:\\.|[^\\])*?"{3}'
_TEXT = rb"%b|'{3}(?:\\.|[^\\])*?'{3}|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'" % _LONG_TEXT
_TEXT_OR_LINES = re.compile(rb"(%b)|(?:[ \t\r]*(?:#[^\n]*)?\n)+" % _TEXT, re.DOTALL)
# After the head of a function or class, whose last line may begin with the bracket that closes it.
_HEAD = rb"^[ \t]*(?:(?:async )?def |class |[\])])[^\n]*:\n"
_DOCSTRING = re.compile(rb"(\A|%b)\s*[rR]?%b\n" % (_HEAD, _LONG_TEXT), re.DOTALL | re.MULTILINE)


def installed_folder() -> Path:
    """Return the folder that holds workflow/ and profiles/: the wheel's, or that of the clone."""
    packed = PACKAGE / "project"
    return packed if packed.is_dir() else PACKAGE.parents[1]


def code_of(stage: str) -> list[Path]:
    """List the files and folders of the code that a job uses."""
    workflow = installed_folder() / "workflow"
    scripts = _RULES.get(stage, ("scripts/compute.py",))
    return [*(PACKAGE / name for name in CODE[stage]), *(workflow / name for name in scripts)]


class ChangedCodeError(RefusalError):
    """Code or configuration was edited while a job was at work."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(
            f"{path}: code or configuration was edited since the run was planned; run the same"
            " command again, which plans anew"
        )


class Watch:
    """The code of a job, which must be the same when it is imported and when the job ends.

    Since an edit may have been undone meanwhile, files must not have been written at all.

    Parameters
    ----------
    stage : {"parameters", "theory", "montecarlo", "merge", "figure"}
    *others : str
        Further files that the job reads.
    """

    def __init__(self, stage: str, *others: str) -> None:
        self._paths = [*code_of(stage), *map(Path, others)]
        self._seen = self._now()

    def _now(self) -> dict[Path, tuple[int, str]]:
        """Return when each file was last changed, and its hash."""
        files = (file for path in self._paths for file in _files(path))
        return {one: (one.stat().st_ctime_ns, sha256(one.read_bytes())) for one in files}

    def check(self) -> None:
        """Check that nothing was edited.

        Raises
        ------
        ChangedCodeError
        """
        if edited := self._seen.items() ^ self._now().items():
            raise ChangedCodeError(min(edited)[0])


@cache
def code_hash(path: Path) -> str:
    """Hash the code of a file or a folder; docstrings, comments and layout do not count.

    `code_hash.cache_clear()` forgets what was read.
    """
    return sha256(repr([(str(one.relative_to(path)), _file_hash(one)) for one in _files(path)]))


def _files(path: Path) -> list[Path]:
    """List the files of code in a folder, or the one file; not what a wheel holds of the clone."""
    if not path.is_dir():
        return [path]
    found = (file for file in path.rglob("*") if file.suffix in _KINDS)
    return sorted(file for file in found if file.relative_to(path).parts[0] != "project")


def _file_hash(path: Path) -> str:
    """Hash what a module or a file of rules says, and all bytes of anything else."""
    content = path.read_bytes()
    if path.suffix in (".py", ".smk"):
        content = bare(content, has_docstrings=path.suffix == ".py")
    return sha256(content)


def sha256(content: str | bytes) -> str:
    """Hash a text or bytes."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def bare(code: bytes, has_docstrings: bool = True) -> bytes:
    r"""Return code without comments, blank lines and docstrings in triple quotes.

    Rules have no docstrings, but commands in triple quotes.

    Examples
    --------
    >>> bare(b"a = 1  # one\n\n\nb = '#'\n")
    b"a = 1\nb = '#'\n"
    """
    without_remarks = _TEXT_OR_LINES.sub(lambda found: found[1] or b"\n", code).lstrip(b"\n")
    return _DOCSTRING.sub(rb"\1", without_remarks) if has_docstrings else without_remarks
