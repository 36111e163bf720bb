"""Configs: read, checked whole against their schemas, every fault told with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from giantstep.validation import shown

SCHEMAS = Path("workflow/schemas")
FIGURES = Path("config/figures")
MAIN = Path("config/config.yaml")


@dataclass(frozen=True)
class ConfigFault:
    """One fault of a config: the file, the path of keys inside it, and what is wrong there."""

    file: str
    path: str
    problem: str

    def __str__(self) -> str:
        return f"{self.file}: {self.path or 'top level'}: {self.problem}"


class InvalidConfigError(ValueError):
    """A config with faults; `faults` holds every one that was found."""

    def __init__(self, faults: Sequence[ConfigFault]) -> None:
        self.faults = tuple(faults)
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        lines = "\n".join(f"  {fault}" for fault in faults)
        super().__init__(f"{count} in the configuration, nothing was started:\n{lines}")


_MERGE = "tag:yaml.org,2002:merge"


class _Loader(yaml.SafeLoader):
    """YAML without silent surprises: repeated keys are refused."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        own = [key for key, _ in node.value if key.tag != _MERGE]  # "<<" brings in others' keys
        keys = [self.construct_object(key, deep=True) for key in own]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} stands twice", node.start_mark
                )
        return super().construct_mapping(node, deep)


# YAML 1.1 reads 1e-4 and 1.0e4 as texts, for want of a dot or a sign; people mean the numbers.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][-+]?[0-9]+\Z"),
    list("-+.0123456789"),
)


# Beyond, a config is no one's: in characters, in values (an anchor's as often as it is used), and
# in levels of nesting.
_LONGEST, _MOST, _DEEPEST = 1_000_000, 100_000, 30


def _constructed(text: str) -> Any:
    if len(text) > _LONGEST:
        raise ValueError(f"it has {len(text)} characters, more than {_LONGEST}")
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        if _count(node, {}, 0) > _MOST:
            raise ValueError(f"it has more than {_MOST} values, each anchor's counted where used")
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _count(node: yaml.Node, known: dict[int, int], depth: int) -> int:
    """Count the values below a node as if no two were one."""
    if depth > _DEEPEST:
        raise ValueError(f"it is nested more than {_DEEPEST} levels deep, or within itself")
    if id(node) not in known:
        children = node.value if isinstance(node, yaml.CollectionNode) else []
        pairs = (child if isinstance(child, tuple) else (child,) for child in children)
        known[id(node)] = 1 + sum(_count(part, known, depth + 1) for pair in pairs for part in pair)
    return known[id(node)]


def load_yaml(path: Path, name: str) -> Any:
    """Read a YAML file.

    Raises
    ------
    InvalidConfigError
        If it is missing, not YAML, or repeats a key.
    """
    try:
        return _constructed(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidConfigError([ConfigFault(name, "", "there is no such file")]) from None
    except OSError as error:
        raise InvalidConfigError(
            [ConfigFault(name, "", f"not readable: {error.strerror}")]
        ) from None
    except Exception as error:  # PyYAML raises anything on values that are not as they are tagged
        text = " ".join(str(error).split())[:300]
        raise InvalidConfigError([ConfigFault(name, "", f"not readable as YAML: {text}")]) from None


def overlaid(config: Any, overlay: Any) -> Any:
    """Lay one config over another, as Snakemake does: mappings key by key, anything else whole."""
    if not isinstance(config, dict) or not isinstance(overlay, dict):
        return overlay
    return config | {k: overlaid(config.get(k), v) for k, v in overlay.items()}


def load_config(root: Path, overlays: Sequence[Path] = ()) -> Any:
    """Read a project's config/config.yaml, and lay files over it, in order.

    Raises
    ------
    InvalidConfigError
        If any is missing, not YAML, or repeats a key.
    """
    config = load_yaml(root / MAIN, str(MAIN))
    for path in overlays:
        config = overlaid(config, load_yaml(path, str(path)))
    return config


def configurations(root: Path, overlays: Sequence[Path] = ()) -> Iterator[Any]:
    """Give every configuration of a project: its default, and each overlay in config/ and beyond.

    Raises
    ------
    InvalidConfigError
        As `load_config`.
    """
    yield load_config(root)
    own = sorted(path for path in (root / MAIN).parent.glob("*.yaml") if path != root / MAIN)
    yield from (load_config(root, [path]) for path in (*own, *overlays))


# JSON Schema counts 16.0 among the integers; a config that says it means something else.
_Validator = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


def load_schema(root: Path, name: str) -> dict[str, Any]:
    """Read `workflow/schemas/<name>.schema.yaml`."""
    schema: dict[str, Any] = load_yaml(root / SCHEMAS / f"{name}.schema.yaml", name)
    return schema


def schema_faults(value: Any, schema: dict[str, Any], file: str) -> list[ConfigFault]:
    """List every way in which a config departs from its schema."""
    errors = _Validator(schema).iter_errors(value)
    return [
        ConfigFault(file, ".".join(map(_step, leaf.absolute_path)), _sentence(leaf))
        for error in sorted(errors, key=lambda e: list(map(str, e.absolute_path)))
        for leaf in _leaves(error)
    ]


def _step(key: object) -> str:
    """Write a step of a path; a key that is no plain word in quotes."""
    text = str(key)
    return text if re.fullmatch(r"[\w.:+-]{1,60}", text, re.ASCII) else shown(key)


def _leaves(error: ValidationError) -> Iterator[ValidationError]:
    """Go down into alternatives, to the branch that the user most likely meant."""
    if error.validator not in ("anyOf", "oneOf") or not error.context:
        yield error
        return
    branches: dict[Any, list[ValidationError]] = {}
    for child in error.context:
        branches.setdefault(child.schema_path[0], []).append(child)
    # A branch that fails deeper inside the value fitted its shape.
    best = max(branches.values(), key=lambda b: (min(len(e.path) for e in b), -len(b)))
    if all(not child.path for child in best):
        yield error
    else:
        for child in best:
            yield from _leaves(child)


def _sentence(error: ValidationError) -> str:
    """Say what the value is and what is allowed, from the schema's own description."""
    value = shown(error.instance)
    if error.validator == "additionalProperties":
        known = sorted(error.schema.get("properties", {}))  # type: ignore[union-attr]
        given: dict[Any, Any] = error.instance  # type: ignore[assignment]
        unknown = sorted(set(given) - set(known), key=str)
        return f"unknown key {', '.join(map(shown, unknown))}; the keys are {', '.join(known)}"
    if error.validator == "required":
        required: list[str] = error.validator_value  # type: ignore[assignment]
        missing = sorted(set(required) - set(error.instance))  # type: ignore[arg-type]
        return f"missing key {', '.join(map(repr, missing))}"
    schema = error.schema if isinstance(error.schema, dict) else {}
    keys = f"a mapping with the keys {', '.join(schema.get('properties', {}))}"
    return f"{value} must be {schema.get('allowed', keys)}"
