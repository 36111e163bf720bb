"""Keys of results: hashes of their parameters and of the code that computes them.

The code counts through its syntax tree, without comments, docstrings or formatting: so an edit of
style computes nothing again, and an edit of the solver computes the theory again but no simulation.
A module's imports inside the package count with it. They are read, never run; a form of import that
cannot be followed is refused, since a result would otherwise pass as current after an edit there.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from giantstep.problems.canonical import digest

PACKAGE = "giantstep"
_ROOT = Path(__file__).parents[3]
# Part of every key; raise it when the files of a stage change in what they hold, or how.
LAYOUT = 3
# This module only words refusals and computes no number. Of the table of functions a result uses
# two entries: a further entry changes nothing for it.
_WORDS = f"{PACKAGE}.validation"
_TABLE, _TABLE_MODULE = "FUNCTIONS", f"{PACKAGE}.numerics.scalar_functions"
# Calls that can reach code which no import statement names.
_DYNAMIC = {"import_module", "__import__", "exec", "eval"}


class UntraceableImportError(ValueError):
    """An import that a fingerprint cannot follow."""

    def __init__(self, source: str, node: ast.AST, remedy: str) -> None:
        line = getattr(node, "lineno", 0)
        super().__init__(
            f"{source}, line {line}: {ast.unparse(node)!r} cannot be followed, so results would not"
            f" be computed again after an edit of what it imports; {remedy}"
        )


def key(slug: str, stage: str, functions: tuple[str, ...], *parameters: Any) -> str:
    """Name a result: a slug for people, then a hash of its parameters and of its code.

    Parameters
    ----------
    slug : str
    stage : str
        The module of this package that computes the result.
    functions : tuple of str
        The names of the activation and the target that the result uses.
    parameters
        Everything else that determines the result.

    Raises
    ------
    UntraceableImportError
    """
    entries = [function_fingerprint(name) for name in functions]
    return f"{slug}-{digest(LAYOUT, fingerprint(stage), entries, parameters)[:12]}"


@cache
def function_fingerprint(name: str) -> str:
    """Hash the syntax of one entry of the table of functions; of none, for a polynomial."""
    tree = ast.parse(_path(_TABLE_MODULE).read_text(encoding="utf-8"))
    table = next(node for node in tree.body if _is_table(node))
    entries = [
        _syntax(node)
        for node in ast.walk(table)
        if isinstance(node, ast.Starred)  # families of functions count for all
        or (
            isinstance(node, ast.Call)
            and any(isinstance(x, ast.Constant) and x.value == name for x in node.args[:1])
        )
    ]
    return digest(entries)


def _is_table(node: ast.AST) -> bool:
    return isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == _TABLE


@cache
def fingerprint(source: str, loads: tuple[str, ...] = ()) -> str:
    """Hash the syntax of a module (or script) and of all it imports inside the package.

    Comments, docstrings, formatting and the wording of refusals do not count, nor does the table
    of functions (see `function_fingerprint`).

    Parameters
    ----------
    source : str
        A dotted module name inside the package, or the path of a Python file.
    loads : tuple of str
        Modules of this package that the source imports by a computed name.

    Raises
    ------
    UntraceableImportError
        For an import that cannot be followed: a relative one, one of a package rather than of its
        modules, or one by a computed name where `loads` is empty.
    """
    own = _read_module(source)
    if own.dynamic is not None and not loads:
        raise UntraceableImportError(source, own.dynamic, "name the modules in an import statement")
    seen: dict[str, str] = {}
    waiting = [*own.imports, *loads]
    while waiting:
        name = waiting.pop()
        if name in seen or name == source:
            continue
        module = _read_module(name)
        if module.dynamic is not None:
            remedy = "name the modules in an import statement"
            raise UntraceableImportError(name, module.dynamic, remedy)
        seen[name] = module.syntax
        waiting += module.imports
    return digest(own.syntax, seen)


class _Module(NamedTuple):
    """A module's hashed syntax, the modules it imports, and its first dynamic import."""

    syntax: str
    imports: tuple[str, ...]
    dynamic: ast.AST | None


@cache
def _read_module(source: str) -> _Module:
    """Read a module once, however many fingerprints it is part of."""
    tree = ast.parse(_path(source).read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    dynamic = next((node for node in nodes if _is_dynamic(node)), None)
    syntax = hashlib.sha256(json.dumps(_syntax(tree)).encode()).hexdigest()
    return _Module(syntax, tuple(_imports(nodes, source)), dynamic)


def _is_dynamic(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    return (called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")) in _DYNAMIC


def _path(source: str) -> Path:
    path = Path(source) if source.endswith(".py") else module_path(source)
    if path is None:
        raise ModuleNotFoundError(f"no module {source} in {PACKAGE}")
    return path


def module_path(name: str) -> Path | None:
    """Find a module of this package without importing it; None for a package, or for nothing."""
    path = _ROOT.joinpath(*name.split(".")).with_suffix(".py")
    return path if name.startswith(f"{PACKAGE}.") and path.is_file() else None


def _imports(nodes: Iterable[ast.AST], source: str) -> Iterator[str]:
    """List the modules of this package that a module imports, by absolute name."""
    for node in nodes:
        if isinstance(node, ast.Import):
            if any(alias.name.split(".")[0] == PACKAGE for alias in node.names):
                remedy = f"write `from {PACKAGE}.wing import module`"
                raise UntraceableImportError(source, node, remedy)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise UntraceableImportError(source, node, "write the absolute name")
            if (node.module or "").split(".")[0] == PACKAGE:
                yield from (name for name in _imported(node, source) if name != _WORDS)


def _imported(node: ast.ImportFrom, source: str) -> Iterator[str]:
    """Give the modules of `from module import names`, or of `from package import modules`."""
    whole = str(node.module)
    if module_path(whole):
        yield whole
        return
    for alias in node.names:
        name = f"{whole}.{alias.name}"
        if not module_path(name):
            remedy = f"there is no module {name}: import from the module that defines it"
            raise UntraceableImportError(source, node, remedy)
        yield name


def _syntax(node: Any) -> Any:
    """Write a syntax tree as lists, without docstrings, positions or empty fields.

    Leaving out what is empty keeps fingerprints alike between versions of Python that add fields.
    """
    if isinstance(node, list):
        return [_syntax(child) for child in node if not _is_text(child) and not _is_table(child)]
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
