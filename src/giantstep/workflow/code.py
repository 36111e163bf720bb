"""The code that results depend on, as keys hash it and jobs watch it.

A job looks at the code before it imports it, so this module imports nothing that computes.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tokenize
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from py_compile import PycInvalidationMode
from py_compile import compile as compile_module

from giantstep.validation import RefusalError

PACKAGE = Path(__file__).parents[1]
_FLAT = "arrays.py", "extras.py", "registry.py", "suggestions.py", "validation.py"
_ALL = "numerics", "problems", *_FLAT
_STORED = ("files.py", "workflow/jobs.py", "workflow/store.py")
_NAMES = "vocabulary.py", "vocabulary.csv"
_THEORY = (*_ALL, *_STORED, "theory", "questions", *_NAMES, "simulation/arithmetic.py")
# Import-linter holds that a job computes with no other code of the package (pyproject.toml).
CODE = {
    "parameters": _THEORY,
    "theory": _THEORY,
    "montecarlo": (*_ALL, *_STORED, "simulation", "questions/task.py", "questions/networks.py"),
    "merge": (*_THEORY, "simulation", "workflow"),
    "figure": ("__init__.py", "figures", "workflow"),
}
# Of the folder workflow/. A job that computes checks its task against the name of its file, so that
# its rule can change no number.
_RULES = {
    "parameters": ("scripts/compute.py",),
    "theory": ("scripts/compute.py",),
    "montecarlo": ("scripts/compute.py",),
    "merge": ("rules", "scripts/merge.py"),
    "figure": ("rules", "scripts/figure.py"),
}
# Of a project, in Snakemake's folder.
_MEMORY = Path(".snakemake/code.json")
_THIS = Path(__file__).read_bytes()
# The flags of such bytecode, after four bytes for the version of Python.
_CHECKED_BY_HASH = b"\3\0\0\0"
_PLAIN_TEXT = re.compile("[rRuUbB]*['\"]")
_LAYOUT = {tokenize.NEWLINE: "\n", tokenize.INDENT: "\t", tokenize.DEDENT: "\b"}
_LEFT_OUT = (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER)
# From Python 3.12 on, the parts of f-strings are tokens.
_FSTRING = getattr(tokenize, "FSTRING_START", -1), getattr(tokenize, "FSTRING_END", -1)


def installed_folder() -> Path:
    """Return the folder that holds workflow/ and profiles/: the wheel's, or that of the clone."""
    packed = PACKAGE / "project"
    return packed if packed.is_dir() else PACKAGE.parents[1]


def code_of(stage: str) -> list[Path]:
    """List the files and folders of the code that a job uses."""
    workflow = installed_folder() / "workflow"
    return [*(PACKAGE / name for name in CODE[stage]), *(workflow / x for x in _RULES[stage])]


class ChangedCodeError(RefusalError):
    """Code or configuration was edited while a job was at work."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(
            f"{path}: code or configuration was edited since the run was planned; run the same"
            " command again, which plans anew"
        )


class Watch:
    """The code of a job, which must be the same when it is imported and when the job ends.

    Since an edit may have been undone meanwhile, files must not have been written at all. Bytecode
    is from now on checked by the hash of its source, which may change within a file's time and
    size.

    Parameters
    ----------
    stage : {"parameters", "theory", "montecarlo", "merge", "figure"}
    *others : str
        Further files that the job reads.
    """

    def __init__(self, stage: str, *others: str) -> None:
        self._paths = [*code_of(stage), *map(Path, others)]
        self._seen = self._now()
        for path in PACKAGE.rglob("*.py"):
            _check_bytecode_by_hash(path)

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
        now = self._now()
        for path in self._seen | now:
            if self._seen.get(path) != now.get(path):
                raise ChangedCodeError(path)


def _check_bytecode_by_hash(path: Path) -> None:
    """Have the bytecode of a module checked by the hash of its source, where it can be written."""
    with suppress(OSError, SyntaxError):
        bytecode = Path(cache_from_source(str(path)))
        if not bytecode.exists() or bytecode.read_bytes()[4:8] != _CHECKED_BY_HASH:
            compile_module(
                str(path), doraise=True, invalidation_mode=PycInvalidationMode.CHECKED_HASH
            )


@cache
def code_hash(path: Path) -> str:
    """Hash the code of a file or a folder; docstrings, comments and layout do not count.

    `code_hash.cache_clear()` forgets what was read.
    """
    return sha256(repr([(str(one.relative_to(path)), _file_hash(one)) for one in _files(path)]))


def _is_code(path: Path) -> bool:
    """Check for modules and rules, and the tables, styles and pages that they read."""
    return path.suffix in (".py", ".smk", ".csv", ".mplstyle", ".html")


def is_loaded(root: Path) -> bool:
    """Check whether the package and the workflow of a clone are those that are loaded."""
    package = root / "src/giantstep"
    names = [path.name for path in package.iterdir() if _is_code(path) or path.is_dir()]
    own = [package / name for name in names if name != "__pycache__"] + [root / "workflow"]
    loaded = [PACKAGE / path.name for path in own[:-1]] + [installed_folder() / "workflow"]
    return all(code_hash(one) == code_hash(other) for one, other in zip(own, loaded, strict=True))


def _files(path: Path) -> list[Path]:
    """List the files of code in a folder, or the one file."""
    return sorted(filter(_is_code, path.rglob("*"))) if path.is_dir() else [path]


def _file_hash(path: Path) -> str:
    """Hash the tokens of a module or of rules, and all bytes of anything else."""
    content = path.read_bytes()
    if path.suffix not in (".py", ".smk"):
        return sha256(content)
    name = sha256(_THIS + path.suffix.encode() + content)
    if name not in _known_hashes():
        try:
            with tokenize.open(path) as file:
                _known_hashes()[name] = token_hash(file.read(), path.suffix == ".py")
        except (SyntaxError, tokenize.TokenError):
            return name
    return _known_hashes()[name]


@cache
def _known_hashes() -> dict[str, str]:
    """Read the hashes of tokens that the project remembers, by those of the bytes of files."""
    try:
        remembered = json.loads(_MEMORY.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return remembered if isinstance(remembered, dict) else {}


def remember_hashes() -> None:
    """Keep the hashes of tokens for the jobs of a run, which have them in a tenth of the time."""
    with suppress(OSError):
        _MEMORY.parent.mkdir(exist_ok=True)
        _MEMORY.write_text(json.dumps(_known_hashes()), encoding="utf-8")


def sha256(content: str | bytes) -> str:
    """Hash a text or bytes."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def token_hash(text: str, has_docstrings: bool = True) -> str:
    """Hash the tokens of a module, which are the same in every version of Python.

    Parameters
    ----------
    text : str
    has_docstrings : bool, optional
        Whether statements that are nothing but texts are left out; rules have no others.

    Examples
    --------
    >>> token_hash("a  =  1") == token_hash("a = 1  # one")
    True
    """
    hashed, statement = hashlib.sha256(), list[str]()
    for kind, token in _tokens(text):
        statement.append(token)
        if kind in _LAYOUT:
            texts = len(statement) > 1 and all(map(_PLAIN_TEXT.match, statement[:-1]))
            if not (has_docstrings and texts):
                hashed.update("\0".join(statement).encode())
            statement.clear()
    return hashed.hexdigest()


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    """Yield the kinds and texts of tokens; an f-string is one, as before Python 3.12."""
    lines, depth, start = list(io.StringIO(text)), 0, (0, 0)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == _FSTRING[0]:
            start, depth = start if depth else token.start, depth + 1
        elif token.type == _FSTRING[1]:
            depth -= 1
            if not depth:
                yield tokenize.STRING, _between(lines, start, token.end)
        elif not depth and token.type not in _LEFT_OUT:
            yield token.type, _LAYOUT.get(token.type, token.string)


def _between(lines: Sequence[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """Cut what is between two places, of which rows are counted from 1."""
    rows = [*lines[start[0] - 1 : end[0] - 1], lines[end[0] - 1][: end[1]]]
    return "".join(rows)[start[1] :]
