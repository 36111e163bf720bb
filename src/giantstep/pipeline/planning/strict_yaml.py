"""Strict YAML: regular files of bounded size, read by the core schema of YAML 1.2.

YAML 1.1 and 1.2 read some unquoted values differently: `010`, `1_0`, `1:30`, `0o10`, `yes`. They
are refused, with what to write instead.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import yaml

from giantstep.validation import DECIMAL_NUMBER, WHOLE_NUMBER

# Limits that no real config reaches: bytes, values (those of an anchor count wherever it is used),
# and levels of nesting.
LONGEST, MOST, DEEPEST = 300_000, 20_000, 30


class UnreadableError(ValueError):
    """What keeps a file from being read, and what to do."""


_TAG = "tag:yaml.org,2002:"
_MERGE = f"{_TAG}merge"
_SWITCH, _ODD_NUMBER = "!switch", "!odd-number"
_INT = rf"{WHOLE_NUMBER}|0x[0-9a-fA-F]+"
_INFINITE = r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
# Plain scalars by what they mean. The first match counts.
_PLAIN = {
    _MERGE: r"<<",
    f"{_TAG}null": r"|~|null|Null|NULL",
    f"{_TAG}bool": r"true|True|TRUE|false|False|FALSE",
    _SWITCH: r"(?i:yes|no|on|off)",
    _ODD_NUMBER: r"[-+]?0[0-9]+"  # octal in 1.1
    r"|[-+]?0[oO][0-7_]+|[-+]?0[bB][01_]+|[-+]0[xX][0-9a-fA-F_]+|0[xX][0-9a-fA-F]*_[0-9a-fA-F_]*"
    r"|[-+]?[0-9]+(:[0-5]?[0-9])+(\.[0-9_]*)?"  # to the base of 60 in 1.1
    r"|(?=[^_]*_)[-+]?[0-9_]*[0-9][0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9_]+)?"
    r"|(?=[^_]*_)[-+]?\.[0-9][0-9_]*([eE][-+]?[0-9_]+)?",
    f"{_TAG}int": _INT,
    f"{_TAG}float": f"{DECIMAL_NUMBER}|{_INFINITE}",
}
_REMEDIES = {
    _SWITCH: "true or false, or put it in quotes if it is a text",
    _ODD_NUMBER: "it as a decimal number such as 8 or 0.5, or put it in quotes if it is a text",
}


class _Loader(yaml.SafeLoader):
    """PyYAML with the scalars of YAML 1.2, which refuses what is repeated, odd or too much."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012
    yaml_constructors: ClassVar[dict[Any, Any]] = {
        tag: yaml.SafeLoader.yaml_constructors[tag]
        for tag in (f"{_TAG}str", f"{_TAG}seq", f"{_TAG}map", None)
    }

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._values = self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self._values += 1
        self._depth += 1
        _check_amount(self._values, self._depth)
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            if key_node.tag == _MERGE:  # it brings in others' keys
                continue
            key = self.construct_object(key_node, deep=True)
            try:
                twice = key in seen
            except TypeError:
                raise _refusal(key_node, "a key must be a plain value") from None
            if twice:
                raise _refusal(key_node, f"the key {key!r} appears twice")
            seen.add(key)
        return super().construct_mapping(node, deep)


def _refusal(node: yaml.Node, problem: str) -> yaml.MarkedYAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _plain_value(tag: str, convert: Callable[[str], Any]) -> Callable[[_Loader, yaml.Node], Any]:
    """Make the constructor of a kind of plain value, tagged or recognised."""
    pattern = re.compile(_PLAIN[tag])

    def construct(loader: _Loader, node: yaml.Node) -> Any:
        text = loader.construct_scalar(node)  # type: ignore[arg-type]
        if not pattern.fullmatch(text):
            raise _refusal(node, f"{text[:60]!r} is no {tag.removeprefix(_TAG)}")
        return convert(text)

    return construct


def _refuse(loader: _Loader, node: yaml.ScalarNode) -> Any:
    """Refuse what the versions of YAML read differently."""
    remedy = _REMEDIES[node.tag]
    raise _refusal(
        node, f"versions of YAML read {node.value[:60]} differently: you must write {remedy}"
    )


def _int(text: str) -> int:
    return int(text, 16 if text.startswith("0x") else 10)


def _float(text: str) -> float:
    return float(text.replace(".", "", 1) if re.fullmatch(_INFINITE, text) else text)


for _kind, _pattern in _PLAIN.items():
    _Loader.add_implicit_resolver(_kind, re.compile(rf"(?:{_pattern})\Z"), None)
for _kind, _convert in {
    f"{_TAG}null": lambda text: None,
    f"{_TAG}bool": lambda text: text.lower() == "true",
    f"{_TAG}int": _int,
    f"{_TAG}float": _float,
}.items():
    _Loader.add_constructor(_kind, _plain_value(_kind, _convert))
for _kind in (_SWITCH, _ODD_NUMBER):
    _Loader.add_constructor(_kind, _refuse)


def read_yaml(path: Path) -> Any:
    """Read a YAML file.

    Raises
    ------
    UnreadableError
        If it is no regular file that can be read, is too large, or is not strict YAML.
    """
    data = _read_bytes(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableError(
            f"not readable: byte {error.start + 1} is not UTF-8: save the file as UTF-8"
        ) from None
    try:
        return _parse(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise UnreadableError(f"not readable as YAML: {place}{_one_line(error.problem)}") from None
    except Exception as error:  # PyYAML raises all sorts where values do not fit their tags
        raise UnreadableError(f"not readable as YAML: {_one_line(error)}") from None


def _one_line(problem: object) -> str:
    return " ".join(str(problem).split())[:300]


def _read_bytes(path: Path) -> bytes:
    """Read a regular file of a bounded size; anything else is not even waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if problem := _irregularity(os.fstat(descriptor).st_mode):
                raise UnreadableError(f"not readable: {problem}: it must be a regular file")
            data = file.read(LONGEST + 1)
    except FileNotFoundError:
        if path.is_symlink():
            raise UnreadableError(
                "there is no such file: its link leads nowhere; mend or remove the link"
            ) from None
        raise UnreadableError("there is no such file: check its name, or make it") from None
    except IsADirectoryError:
        raise UnreadableError("not readable: it is a folder: it must be a regular file") from None
    except (OSError, ValueError) as error:
        raise UnreadableError(f"not readable: {_told(error)}") from None
    if len(data) > LONGEST:
        raise UnreadableError(f"not readable: it must have at most {LONGEST} bytes, and has more")
    return data


def _irregularity(mode: int) -> str:
    if stat.S_ISREG(mode):
        return ""
    if stat.S_ISDIR(mode):
        return "it is a folder"
    return "it is a pipe, a socket or a device"


def _told(error: OSError | ValueError) -> str:
    if isinstance(error, UnreadableError):
        return str(error).removeprefix("not readable: ")
    number = getattr(error, "errno", None)
    if number == errno.ELOOP:
        return "its link leads in a circle: mend or remove the link"
    if number in (errno.EACCES, errno.EPERM):
        return "you may not read it: change its permissions (chmod u+r)"
    if number in (errno.ENXIO, errno.ENODEV):
        return "it is a pipe, a socket or a device: it must be a regular file"
    return f"{getattr(error, 'strerror', None) or error}: it must be a regular file"


def _parse(text: str) -> Any:
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _check_amount(_count(node, {}, 0), 0)
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _count(node: yaml.Node, known: dict[int, int], depth: int) -> int:
    """Count the values below a node; those of an anchor count wherever it is used."""
    _check_amount(0, depth)
    if id(node) not in known:
        children = node.value if isinstance(node, yaml.CollectionNode) else []
        pairs = (child if isinstance(child, tuple) else (child,) for child in children)
        known[id(node)] = 1 + sum(_count(part, known, depth + 1) for pair in pairs for part in pair)
    return known[id(node)]


def _check_amount(values: int, depth: int) -> None:
    if values > MOST:
        raise ValueError(
            f"it must have at most {MOST} values, those of an anchor count wherever it is used"
        )
    if depth > DEEPEST:
        raise ValueError(f"it must be nested at most {DEEPEST} levels deep, and not within itself")
