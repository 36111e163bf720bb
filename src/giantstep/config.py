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

SCHEMAS = Path("workflow/schemas")
FIGURES = Path("config/figures")


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


def load_yaml(path: Path, name: str) -> Any:
    """Read a YAML file.

    Raises
    ------
    InvalidConfigError
        If it is missing, not YAML, or repeats a key.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except FileNotFoundError:
        raise InvalidConfigError([ConfigFault(name, "", "there is no such file")]) from None
    except OSError as error:
        raise InvalidConfigError(
            [ConfigFault(name, "", f"not readable: {error.strerror}")]
        ) from None
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        text = " ".join(str(error).split())
        raise InvalidConfigError([ConfigFault(name, "", f"not readable as YAML: {text}")]) from None


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
        ConfigFault(file, ".".join(map(str, leaf.absolute_path)), _sentence(leaf))
        for error in sorted(errors, key=lambda e: list(map(str, e.absolute_path)))
        for leaf in _leaves(error)
    ]


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
    value = repr(error.instance)
    value = value if len(value) < 80 else value[:77] + "..."
    if error.validator == "additionalProperties":
        known = sorted(error.schema.get("properties", {}))  # type: ignore[union-attr]
        given: dict[Any, Any] = error.instance  # type: ignore[assignment]
        unknown = sorted(set(given) - set(known), key=str)
        return f"unknown key {', '.join(map(repr, unknown))}; the keys are {', '.join(known)}"
    if error.validator == "required":
        required: list[str] = error.validator_value  # type: ignore[assignment]
        missing = sorted(set(required) - set(error.instance))  # type: ignore[arg-type]
        return f"missing key {', '.join(map(repr, missing))}"
    allowed = error.schema.get("allowed") if isinstance(error.schema, dict) else None
    return f"{value} must be {allowed}" if allowed else error.message
