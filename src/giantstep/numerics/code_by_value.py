"""Python functions that other processes cannot import, such as lambdas, pickled with their code.

It works between processes of one version of Python, such as the workers of a pool.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CellType, CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

# The arguments of CodeType, in its order.
_PARTS = (
    "argcount", "posonlyargcount", "kwonlyargcount", "nlocals", "stacksize", "flags", "code",
    "consts", "names", "varnames", "filename", "name", "qualname", "firstlineno", "linetable",
    "exceptiontable", "freevars", "cellvars",
)  # fmt: skip

# The script that runs, and how multiprocessing names it in workers.
_MAIN = ("__main__", "__mp_main__")


def by_value(value: Any) -> Any:
    """Wrap a function that cannot be imported, so that it is pickled with its code.

    To unpickle the wrapper gives the function. All else is returned as it is.

    Examples
    --------
    >>> import pickle
    >>> from giantstep.numerics.code_by_value import by_value
    >>> pickle.loads(pickle.dumps(by_value(lambda x: x + 1)))(2)
    3
    """
    if isinstance(value, CodeType):
        return _Code(value)
    if isinstance(value, FunctionType):
        importable = "<" not in value.__qualname__ and value.__module__ not in _MAIN
        return value if importable else _Function(value)
    return value


class _Code:
    """A code object, pickled by its parts."""

    def __init__(self, code: CodeType) -> None:
        self._code = code

    def __reduce__(self) -> tuple[Any, ...]:
        parts = {part: getattr(self._code, f"co_{part}") for part in _PARTS}
        parts["consts"] = tuple(map(by_value, parts["consts"]))
        return _code, tuple(parts.values())


class _Function:
    """A function, pickled with its code and what that refers to."""

    def __init__(self, function: FunctionType) -> None:
        self._function = function

    def __reduce__(self) -> tuple[Any, ...]:
        function = self._function
        names = set(_names(function.__code__))
        known = {name: function.__globals__[name] for name in names & {*function.__globals__}}
        enclosed = [cell.cell_contents for cell in function.__closure__ or ()]
        return _made, (
            _Code(function.__code__),
            {name: _referred(value, names) for name, value in known.items()},
            [_referred(value, names) for value in enclosed],
            tuple(by_value(value) for value in function.__defaults__ or ()),
            {name: by_value(value) for name, value in (function.__kwdefaults__ or {}).items()},
        )


def _names(code: CodeType) -> Iterator[str]:
    """List the names of globals and attributes in some code."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _referred(value: Any, names: set[str]) -> Any:
    """Replace a module by those of its attributes that are named in the code."""
    if not isinstance(value, ModuleType):
        return by_value(value)
    used = {name: _referred(vars(value)[name], names) for name in names & {*vars(value)}}
    return SimpleNamespace(**used)


def _code(*parts: Any) -> CodeType:
    return CodeType(*parts)


def _made(
    code: CodeType,
    known: dict[str, Any],
    enclosed: list[Any],
    defaults: tuple[Any, ...],
    named_defaults: dict[str, Any],
) -> FunctionType:
    cells = tuple(CellType(value) for value in enclosed)
    function = FunctionType(code, known, code.co_name, defaults, cells)
    function.__kwdefaults__ = named_defaults
    function.__module__ = _MAIN[0]  # for it cannot be imported here, either
    return function
