"""What makes a result the same result: its task, and the code that computes it."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from giantstep.files import beside
from giantstep.problems.canonical import digest
from giantstep.problems.formatting import format_number
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.recovery import Recovery
from giantstep.questions.task import Task
from giantstep.validation import RefusalError
from giantstep.workflow.shards import with_networks

PACKAGE = Path(__file__).parents[1]
# Snakemake's folder of a project.
_MEMORY = Path(".snakemake/code.json")
_THIS = Path(__file__).read_bytes()
_FLAT = "arrays.py", "extras.py", "registry.py", "suggestions.py", "validation.py"
_ALL = "numerics", "problems", *_FLAT
_NETWORKS = "questions/networks.py", "questions/task.py"
_STORED = ("files.py", "workflow/jobs.py", "workflow/store.py")
_NAMES = "vocabulary.py", "vocabulary.csv"
_THEORY = (*_ALL, *_STORED, "theory", "questions", *_NAMES, "simulation/arithmetic.py")
# Import-linter holds that a job uses no other code of the package (pyproject.toml).
CODE = {
    "parameters": _THEORY,
    "theory": _THEORY,
    "montecarlo": (*_ALL, *_STORED, "simulation", "questions/task.py", "questions/networks.py"),
    "merge": (*_THEORY, "simulation", "workflow"),
    "figure": ("__init__.py", "figures", "workflow"),
}


class ChangedCodeError(RefusalError):
    """Code or configuration was edited while a job was at work."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(
            f"{path} is not what the code makes now, which was edited since the run was planned:"
            " run the same command again, which plans anew"
        )


def key(stage: str, *parts: Any) -> str:
    """Hash what a job computes, and the code that it uses.

    Parameters
    ----------
    stage : {"parameters", "theory", "montecarlo", "merge", "figure"}
    *parts
        All that the result depends on besides; see `problems.canonical`.
    """
    return digest(stage, *parts, [code_hash(PACKAGE / name) for name in CODE[stage]])[:12]


def result_key(stage: str, tasks: Mapping[str, Task]) -> str:
    """Return the key of a job's result; the replicates of a shard are in the name of its file."""
    if stage != "montecarlo":
        return key(stage, tasks)
    (task,) = tasks.values()
    return key(stage, with_networks(task, ()))


@cache
def code_hash(path: Path) -> str:
    """Hash the code of a file or a folder; docstrings, comments and layout do not count.

    `code_hash.cache_clear()` forgets what was read.
    """
    paths = sorted(filter(_is_code, path.rglob("*"))) if path.is_dir() else [path]
    hashes = [(str(one.relative_to(path)), _file_hash(one)) for one in paths]
    _remember()
    return sha256(repr(hashes))


def is_loaded_code(package: Path) -> bool:
    """Check whether a copy of the package holds the code that is imported."""
    names = [path.name for path in package.iterdir() if _is_code(path) or path.is_dir()]
    code = [name for name in names if name != "__pycache__"]
    return all(code_hash(package / name) == code_hash(PACKAGE / name) for name in code)


def _is_code(path: Path) -> bool:
    """Check for modules, and the tables, styles and pages that they read."""
    return path.suffix in (".py", ".csv", ".mplstyle", ".html")


def sha256(content: str | bytes) -> str:
    """Hash a text or bytes."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def _file_hash(path: Path) -> str:
    """Hash the syntax tree of a module, once for the same bytes in a project; else all bytes."""
    source = path.read_bytes()
    if path.suffix != ".py":
        return sha256(source)
    name = sha256(_THIS + source)
    if name not in (hashes := _hashes()):
        hashes[name] = sha256(ast.dump(_bare(ast.parse(source, str(path)))))
        hashes["changed"] = "yes"
    return hashes[name]


@cache
def _hashes() -> dict[str, str]:
    """Read what is remembered: hashes of syntax trees, by those of the bytes of modules."""
    try:
        remembered = json.loads(_MEMORY.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return remembered if isinstance(remembered, dict) else {}


def _remember() -> None:
    """Keep what is new for the next process, if this folder is a project's."""
    if _hashes().pop("changed", "") and Path("Snakefile").is_file():
        with suppress(OSError), beside(_MEMORY) as place:
            place.write_text(json.dumps(_hashes()), encoding="utf-8")


def _bare(tree: ast.Module) -> ast.Module:
    """Take the docstrings out of a syntax tree."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node):
            del node.body[0]
    return tree


def slug(problem: Problem | Recovery) -> str:
    """Summarise a problem for people who list a folder of results."""
    if isinstance(problem, Recovery):
        words = [problem.activation, problem.teacher]
    elif isinstance(problem, Protocol):
        rate, alpha0 = format_number(problem.learning_rate), format_number(problem.alpha0)
        words = [problem.activation, problem.target, f"eta{rate}", f"alpha0_{alpha0}"]
    else:
        strengths = "_".join(f"{strength:.4g}" for strength in problem.groups.u[:4])
        overlaps = "_".join(format_number(overlap) for overlap in problem.alignments.tolist())
        words = [problem.activation, problem.target, f"r{strengths}", f"gamma{overlaps}"]
    return re.sub(r"[^\w.+-]", "_", "-".join(words))[:80]
