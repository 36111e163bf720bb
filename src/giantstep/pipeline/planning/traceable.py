"""Code that numbers may depend on: what a fingerprint can follow, and nothing outside it.

Numbers come from tasks, from code and from libraries. What else a module could read, such as files
and the environment, is in no key: so only storage reads files, and under sealed names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

# Imported code that is not this project's. Results record the versions of these libraries.
LIBRARIES = frozenset({"matplotlib", "numpy", "pandas", "scipy", "threadpoolctl", "xarray"})
# Modules of Python that read nothing but, by the last, which libraries are installed.
_STANDARD = frozenset({
    "__future__", "abc", "bisect", "collections", "collections.abc", "concurrent.futures",
    "contextlib", "copy", "dataclasses", "enum", "fractions", "functools", "hashlib", "heapq",
    "itertools", "json", "logging", "math", "numbers", "operator", "pathlib", "re", "string",
    "textwrap", "time", "types", "typing", "warnings", "importlib.metadata",
})  # fmt: skip
# Modules that read and write results: what they read has the name of its key inside, under a seal.
# `stages.shards` lists a folder, whose name is a key, for the replicates that are finished.
_STORAGE = frozenset(
    f"giantstep.pipeline.{name}"
    for name in (
        *("runtime.checksums", "stages.shards"),
        *("storage.large_netcdf", "storage.netcdf", "storage.on_disk", "storage.whole_file"),
    )
)
_FOR_STORAGE = frozenset({"errno", "netCDF4", "os", "stat", "tempfile"})
# What runs code that no import statement names: as names, and as attributes.
_DYNAMIC_NAMES = frozenset({
    "__builtins__", "__import__", "__loader__", "__spec__", "compile", "eval", "exec",
})  # fmt: skip
_DYNAMIC_ATTRIBUTES = frozenset({
    "__builtins__", "__import__", "__loader__", "exec_module", "import_module",
})  # fmt: skip
# What reads files, folders or the environment, whatever it is an attribute of.
_READING_NAMES = frozenset({"breakpoint", "input", "open"})
_READING_ATTRIBUTES = frozenset({
    "absolute", "cwd", "environ", "environb", "exists", "expanduser", "fromfile", "genfromtxt",
    "getenv", "glob", "home", "is_dir", "is_file", "iterdir", "loadtxt", "lstat", "open",
    "read_bytes", "read_text", "readlink", "resolve", "rglob", "stat",
})  # fmt: skip
# Members of modules that read files, load other code, or hold modules that do.
_READING_MEMBER = re.compile(
    r"(fetch|load|open|read|rc_file)\w*|addfont|builtins|ctypeslib|datasets|DataSource|ExcelFile|"
    r"f2py|fromregex|get_sample_data|HDFStore|imread|importlib|io|memmap|npyio|os|style|subprocess|"
    r"sys|tutorial|__dict__|\*"
)
_NAME_IT = "name the modules in an import statement"
_PASS_IT = "pass it as a field of the task, or read it in pipeline/storage"


class UntraceableCodeError(ValueError):
    """Code that a fingerprint cannot follow."""

    def __init__(self, source: str, node: ast.AST, remedy: str) -> None:
        line = getattr(node, "lineno", 0)
        super().__init__(
            f"{source}, line {line}: {ast.unparse(node)!r} cannot be followed, so results would not"
            f" be computed again after an edit of what it uses; {remedy}"
        )


def check_traceable(nodes: Sequence[ast.AST], source: str, own_package: str) -> None:
    """Refuse what reaches code, files or settings that are in no key.

    Parameters
    ----------
    nodes : sequence of ast.AST
        Of a whole module.
    source : str
        Its name, or the path of a script.
    own_package : str
        Imports from it are followed elsewhere.

    Raises
    ------
    UntraceableCodeError
    """
    modules, members = _check_imports(nodes, source, own_package)
    stores = source in _STORAGE
    qualified = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        if isinstance(node, ast.Name):
            _refuse(node.id in _DYNAMIC_NAMES, source, node, _NAME_IT)
            _refuse(node.id in _READING_NAMES and not stores, source, node, _PASS_IT)
            # A module that is passed on could be asked for anything.
            passed_on = node.id in modules and id(node) not in qualified
            _refuse(passed_on, source, node, "use its functions by their names")
        elif isinstance(node, ast.Attribute):
            _refuse(node.attr in _DYNAMIC_ATTRIBUTES, source, node, _NAME_IT)
            if not stores:
                of_module = _root(node) in modules | members
                _refuse(_reads(node.attr, of_module), source, node, _PASS_IT)
        elif isinstance(node, ast.Constant):
            _refuse(node.value in ("__builtins__", "__import__"), source, node, _NAME_IT)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "getattr":
            names = [str(getattr(argument, "value", "")) for argument in node.args[1:2]]
            _refuse(any(_reads(name, True) for name in names), source, node, _PASS_IT)


def computed_import(nodes: Iterable[ast.AST]) -> ast.AST | None:
    """Find the import of `import_module`, which imports modules by computed names."""
    return next((node for node in nodes if _is_computed(node)), None)


def _is_computed(node: ast.AST) -> bool:
    match node:
        case ast.ImportFrom(module="importlib", names=[ast.alias("import_module", None)]):
            return True
    return False


def _check_imports(
    nodes: Sequence[ast.AST], source: str, own_package: str
) -> tuple[set[str], set[str]]:
    """Check imports from outside the package; list the names of modules, and of their members."""
    modules, members = set(), set()
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] != own_package:
                    _check_module(alias.name, node, source)
                    modules.add(alias.asname or alias.name.split(".")[0])
        elif isinstance(node, ast.ImportFrom) and not node.level and not _is_computed(node):
            name = str(node.module)
            if name.split(".")[0] != own_package:
                _check_module(name, node, source)
                _refuse(any(_reads(x.name, True) for x in node.names), source, node, _PASS_IT)
                members |= {alias.asname or alias.name for alias in node.names}
    return modules, members


def _check_module(name: str, node: ast.AST, source: str) -> None:
    """Refuse modules that are not known to read nothing, such as one beside a script."""
    top, *inner = name.split(".")
    if top in LIBRARIES:
        _refuse(any(_reads(part, True) for part in inner), source, node, _PASS_IT)
    elif name not in _STANDARD and not (source in _STORAGE and name in _FOR_STORAGE):
        remedy = (
            f"move {name} into giantstep, or, if no number depends on what it reads, name it in"
            " planning/traceable.py"
        )
        raise UntraceableCodeError(source, node, remedy)


def _reads(attribute: str, of_module: bool) -> bool:
    """Tell whether an attribute, or a member of a module, reads what is in no key."""
    member = _READING_MEMBER.fullmatch(attribute) if of_module else None
    return attribute in _READING_ATTRIBUTES or member is not None


def _refuse(condition: bool, source: str, node: ast.AST, remedy: str) -> None:
    if condition:
        raise UntraceableCodeError(source, node, remedy)


def _root(node: ast.expr) -> str:
    """Return the name that a chain of attributes starts with; nothing if it starts otherwise."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
