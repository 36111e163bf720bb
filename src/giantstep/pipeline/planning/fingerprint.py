"""What makes a result the same result: keys of files, from parameters and the numerics run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from giantstep.problems.canonical import digest

PACKAGE = "giantstep"
# Part of every key; raise it when the files of a stage change in what they hold, or how.
LAYOUT = 3


# The module that only words refusals, and so computes no number; and the table of functions, of
# which a result uses two: another entry changes nothing for it.
_WORDS = f"{PACKAGE}.validation"
_TABLE, _TABLE_MODULE = "FUNCTIONS", f"{PACKAGE}.numerics.scalar_functions"


def key(slug: str, stage: str, functions: tuple[str, ...], *parameters: Any) -> str:
    """Name a result: a slug for people, then a hash of parameters and of the numerics run.

    Parameters
    ----------
    slug : str
    stage : str
        The module of this package that computes the result.
    functions : tuple of str
        The names of the activation and the target that the result uses.
    parameters
        Everything else that determines the result.
    """
    entries = [function_fingerprint(name) for name in functions]
    return f"{slug}-{digest(LAYOUT, fingerprint(stage), entries, parameters)[:12]}"


@cache
def function_fingerprint(name: str) -> str:
    """Hash the syntax of one entry of the table of functions; nothing, for one spelt out."""
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
def fingerprint(source: str) -> str:
    """Hash the syntax of a module (or script) and of all it imports inside the package.

    Comments, docstrings, formatting and the wording of refusals do not count, nor does the table
    of functions (see `function_fingerprint`).

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
            seen[name], imports = _parsed(_path(name).read_text(encoding="utf-8"))
            waiting += [imported for imported in imports if imported not in seen]
    modules = {name: tree for name, tree in seen.items() if name != source}
    return digest(seen[source], modules)


@cache
def _parsed(text: str) -> tuple[list[Any], tuple[str, ...]]:
    """Give the syntax of a module and what it imports; most modules are part of many prints."""
    tree = ast.parse(text)
    return _syntax(tree), tuple(_imports(tree))


def _path(source: str) -> Path:
    path = Path(source) if source.endswith(".py") else module_path(source)
    if path is None:
        raise ModuleNotFoundError(f"no module {source} in {PACKAGE}")
    return path


def module_path(name: str) -> Path | None:
    """Find a module of this package without importing it."""
    root, *parts = name.split(".")
    place = Path(__file__).parents[2].joinpath(*parts)
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
        for name in names:
            if name.startswith(f"{PACKAGE}.") and name != _WORDS:
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
