"""What makes a result the same result: content keys of files, and seeds of random streams."""

from __future__ import annotations

import ast
import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from numpy.random import SeedSequence

from giantstep.protocol import Problem

PACKAGE = "giantstep"
# Part of every key; raise it when the variables of a stage's file change.
LAYOUT = 1


def plain(value: Any) -> Any:
    """Turn parameters into what JSON can hold, the same for the same parameters."""
    if is_dataclass(value) and not isinstance(value, type):
        return {"type": type(value).__name__} | {k: plain(v) for k, v in asdict(value).items()}
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(v) for v in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"  # JSON has no infinity
    return value


def digest(*values: Any) -> str:
    """Hash parameters by their canonical JSON."""
    text = json.dumps(plain(values), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def key(slug: str, stage: str, *parameters: Any) -> str:
    """Name a result: a slug for people, then a hash of parameters and of the numerics run.

    Parameters
    ----------
    slug : str
    stage : str
        The module of this package that computes the result, or the path of a script.
    parameters
        Everything else that determines the result.
    """
    return f"{slug}-{digest(LAYOUT, fingerprint(stage), parameters)[:12]}"


def problem_seed(root: int, problem: Problem) -> SeedSequence:
    """Give the root of a problem's random streams, from its parameters alone."""
    return SeedSequence(root, spawn_key=(int(digest(problem)[:16], 16),))


@cache
def fingerprint(source: str) -> str:
    """Hash the syntax of a module (or script) and of all it imports inside the package.

    Comments, docstrings and formatting do not count.

    Parameters
    ----------
    source : str
        A dotted module name inside the package, or the path of a Python file.
    """
    seen: dict[str, list[Any]] = {}
    waiting = [source]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            tree = ast.parse(_path(name).read_text(encoding="utf-8"))
            seen[name] = _syntax(tree)
            waiting += [imported for imported in _imports(tree) if imported not in seen]
    modules = {name: tree for name, tree in seen.items() if name != source}
    return digest(seen[source], modules)


def _path(source: str) -> Path:
    path = Path(source) if source.endswith(".py") else module_path(source)
    if path is None:
        raise ModuleNotFoundError(f"no module {source} in {PACKAGE}")
    return path


def module_path(name: str) -> Path | None:
    """Find a module of this package without importing it."""
    root, *parts = name.split(".")
    place = Path(__file__).parent.joinpath(*parts)
    candidates = (place.with_suffix(".py"), place / "__init__.py")
    return next((path for path in candidates if root == PACKAGE and path.is_file()), None)


def _imports(tree: ast.Module) -> Iterator[str]:
    """List the modules of this package that a module imports, by absolute name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from giantstep import srf` names a module, `from giantstep.srf import f` does not.
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            modules = [name for name in inside if module_path(name)]
            names = modules or [node.module]
        else:
            continue
        yield from (name for name in names if name.startswith(f"{PACKAGE}."))


def _syntax(node: Any) -> Any:
    """Write a syntax tree as lists, without docstrings, positions or empty fields.

    Leaving out what is empty keeps fingerprints alike between versions of Python that add fields.
    """
    if isinstance(node, list):
        return [_syntax(child) for child in node if not _is_text(child)]
    if not isinstance(node, ast.AST):
        return repr(node)
    children = ((name, getattr(node, name, None)) for name in node._fields)
    return [type(node).__name__] + [
        [name, _syntax(child)] for name, child in children if child not in (None, [])
    ]


def _is_text(node: Any) -> bool:
    """Tell a string that stands alone as a statement: a docstring."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
