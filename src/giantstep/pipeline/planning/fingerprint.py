"""Fingerprints of code: hashes of a script's syntax and of all that it imports from this package.

Comments, docstrings and formatting do not count: so an edit of style computes nothing again, and an
edit of the solver computes the theory again but no simulation. Imports are read, never run. What
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

from giantstep.pipeline.planning.traceable import (
    UntraceableCodeError,
    check_traceable,
    computed_import,
)
from giantstep.problems.canonical import digest

PACKAGE = "giantstep"
_ROOT = Path(__file__).parents[3]
# Modules that run a job, and do not count: they check it, log, time, lock, load what draws, stop it
# on a signal, and tell what went wrong. No value passes through them, and no byte of a result.
RUNNERS = frozenset(
    f"{PACKAGE}.pipeline.runtime.{name}"
    for name in (
        *("drawing_code", "job", "job_check", "processes", "run_lock", "run_times", "signals"),
    )
)
# Its texts are the wording of refusals, and do not count; its functions do.
_WORDS = f"{PACKAGE}.validation"
# Of the table of functions a result uses two entries: a further entry changes nothing for it.
_TABLE, _TABLE_MODULE = "FUNCTIONS", f"{PACKAGE}.numerics.scalar_functions"
# Names that need no entry in the table: the rest of such a name holds all coefficients.
_POLYNOMIAL = "polynomial:"
# It runs at every import: all that it imports counts, so it imports what it offers on demand.
_INIT = f"{PACKAGE}.__init__"
_NAME_THEM = "name the modules in an import statement"


def function_fingerprint(name: str) -> str:
    """Hash the syntax of one entry of the table of functions; of none, for a polynomial.

    All entries in which the name stands count: as a text, or as a constant that holds it. So does
    an entry whose own name cannot be read, since it may replace another.

    Raises
    ------
    UntraceableCodeError
        If there is no such entry, or the table is not written entry by entry.
    """
    if name.startswith(_POLYNOMIAL):
        return digest(name)
    tree = ast.parse(_read(_TABLE_MODULE))
    constants = _assigned(tree.body)
    table = next((node for node in tree.body if _is_table(node)), tree)
    entries = [entry for entry in _entries(table) if name in _texts(entry, constants)]
    if not entries:
        remedy = f"write the entry of {name!r} in {_TABLE}, with its name"
        raise UntraceableCodeError(_TABLE_MODULE, ast.Name(_TABLE), remedy)
    unnamed = [entry for entry in _entries(table) if not _has_name(entry, constants)]
    return digest([_syntax(entry) for entry in entries], *([_syntax(x)] for x in unnamed))


def _is_table(node: ast.AST) -> bool:
    return isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == _TABLE


def _entries(table: ast.AST) -> list[ast.expr]:
    """List the entries of `FUNCTIONS: ... = {... for ... in (entry, entry, ...)}`."""
    match getattr(table, "value", None):
        case ast.DictComp(generators=[ast.comprehension(iter=ast.Tuple(found))]):
            for entry in found:
                if isinstance(entry, ast.Starred):
                    remedy = "write each entry out, with its name"
                    raise UntraceableCodeError(_TABLE_MODULE, entry, remedy)
            return found
    raise UntraceableCodeError(_TABLE_MODULE, ast.Name(_TABLE), "list its entries in a tuple")


def _has_name(entry: ast.expr, constants: dict[str, ast.expr]) -> bool:
    """Tell whether the name of an entry is written out: its first argument, or `name=`."""
    if not isinstance(entry, ast.Call):
        return False
    given = [word.value for word in entry.keywords if word.arg == "name"] or entry.args[:1]
    name = given[0] if given else None
    if isinstance(name, ast.Call):
        return _has_name(name, constants)
    if isinstance(name, ast.Name):
        name = constants.get(name.id)
    return isinstance(name, ast.Constant) and isinstance(name.value, str)


def _assigned(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """List what a module assigns to names."""
    return {
        target.id: node.value
        for node in body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _texts(node: ast.AST, constants: dict[str, ast.expr]) -> set[str]:
    """List the texts in an expression, and in the constants that it names."""
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            found.add(part.value)
        elif isinstance(part, ast.Name) and part.id in constants:
            others = {name: value for name, value in constants.items() if name != part.id}
            found |= _texts(constants[part.id], others)
    return found


def fingerprint(source: str, loads: tuple[str, ...] = ()) -> str:
    """Hash the syntax of a script (or module) and of all it imports inside the package.

    Comments, docstrings, formatting, the wording of refusals and `RUNNERS` do not count, nor do the
    entries of the table of functions (see `function_fingerprint`). Files are read anew each time.

    Parameters
    ----------
    source : str
        The path of a Python file, or a dotted module name inside the package.
    loads : tuple of str
        Modules of this package that the source imports by a computed name.

    Raises
    ------
    UntraceableCodeError
        For an import that cannot be followed: a relative one, one of a package rather than of its
        modules, or one by a computed name where `loads` is empty; and for what `traceable` refuses.
    """
    own = _module(source)
    if own.computed is not None and not loads:
        raise UntraceableCodeError(source, own.computed, _NAME_THEM)
    seen: dict[str, str] = {}
    waiting = [*own.imports, *loads, *_packages(own.imports), *_packages(loads)]
    while waiting:
        name = waiting.pop()
        if name in seen or name == source or name in RUNNERS:
            continue
        module = _module(name)
        if module.computed is not None:
            raise UntraceableCodeError(name, module.computed, _NAME_THEM)
        seen[name] = module.syntax
        waiting += [*module.imports, *_packages(module.imports)]
    return digest(own.syntax, seen)


def code_bytes(root: Path) -> str:
    """Hash the bytes of all modules of the package, and of all scripts of jobs.

    Parameters
    ----------
    root : Path
        The folder that holds workflow/.
    """
    hashed = hashlib.sha256()
    for folder in (_ROOT / PACKAGE, root / "workflow" / "scripts"):
        for path in sorted(folder.rglob("*.py")):
            content = path.read_bytes()
            hashed.update(f"{path}\n{len(content)}\n".encode())
            hashed.update(content)
    return hashed.hexdigest()


def _packages(modules: Iterable[str]) -> set[str]:
    """List the packages that are imported with modules, as modules of their own."""
    names = (name.split(".") for name in modules)
    inits = {".".join([*parts[:k], "__init__"]) for parts in names for k in range(1, len(parts))}
    return {name for name in inits if module_path(name)}


class _Module(NamedTuple):
    """A module's hashed syntax, the modules it imports, and how it imports by computed names."""

    syntax: str
    imports: tuple[str, ...]
    computed: ast.AST | None


def _module(source: str) -> _Module:
    return _parsed(source, _read(source))


def _read(source: str) -> str:
    path = Path(source) if source.endswith(".py") else module_path(source)
    if path is None:
        raise ModuleNotFoundError(f"no module {source} in {PACKAGE}")
    return path.read_text(encoding="utf-8")


@cache
def _parsed(source: str, text: str) -> _Module:
    """Parse a module once, however many fingerprints it is part of."""
    tree = ast.parse(text)
    if source == _WORDS:
        _Wordless().visit(tree)
    if source == _TABLE_MODULE:
        tree.body = [node for node in tree.body if not _is_table(node)] + _shape(tree)
    if source == _INIT:
        tree.body = [node for node in map(_run_at_import, tree.body) if node]
    nodes = list(ast.walk(tree))
    syntax = hashlib.sha256(json.dumps(_syntax(tree)).encode()).hexdigest()
    imports = tuple(_imports(nodes, source))
    check_traceable(nodes, source, PACKAGE)
    return _Module(syntax, imports, computed_import(nodes))


class _Wordless(ast.NodeTransformer):
    """Empties all texts."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        """Empty a text."""
        return ast.Constant("") if isinstance(node.value, str) else node


def _shape(tree: ast.Module) -> list[ast.stmt]:
    """Return the statement of the table of functions without its entries."""
    table = next((node for node in tree.body if _is_table(node)), None)
    if table is None:
        return []
    entries = _entries(table)
    entries.clear()
    return [table]


def _run_at_import(node: ast.stmt) -> ast.stmt | None:
    """Return what importing the package runs of a statement that names what the library offers."""
    match node:
        case ast.Assign(targets=[ast.Name(id="__all__" | "__version__")], value=value):
            inert = (ast.Constant, ast.List, ast.Load)
            return None if all(isinstance(part, inert) for part in ast.walk(value)) else node
        case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=[]):
            return None
        case ast.FunctionDef(name="__dir__" | "__getattr__"):
            node.body = []
    return node


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
                raise UntraceableCodeError(source, node, remedy)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise UntraceableCodeError(source, node, "write the absolute name")
            if (node.module or "").split(".")[0] == PACKAGE:
                yield from _imported(node, source)


def _imported(node: ast.ImportFrom, source: str) -> Iterator[str]:
    """Return the modules of `from module import names`, or of `from package import modules`."""
    whole = str(node.module)
    if module_path(whole):
        yield whole
        return
    for alias in node.names:
        name = f"{whole}.{alias.name}"
        if not module_path(name):
            remedy = f"there is no module {name}: import from the module that defines it"
            raise UntraceableCodeError(source, node, remedy)
        yield name


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
    """Check whether a statement is a string that stands alone: a docstring."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
