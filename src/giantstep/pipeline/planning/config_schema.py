"""Check configs against their models, name every fault, and write the models' JSON schemas.

A fault's sentence is written from the JSON schema of the place where it is, so that messages,
editors and checks agree. `python -m giantstep.pipeline.planning.config_schema FOLDER` writes the
schemas that the first lines of the YAML files refer to.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import ErrorDetails, core_schema

from giantstep.pipeline.planning.config import ConfigFault
from giantstep.pipeline.planning.config_models import LIST, ONE, Config, Figure
from giantstep.validation import shown

Model = TypeVar("Model", bound=BaseModel)
Node = dict[str, Any]
# Errors about a key of a mapping, rather than about its value.
_KEY_ERRORS = {"missing": "missing", "extra_forbidden": "unknown", "invalid_key": "unknown"}
# Where a key belongs that panels of another kind have.
_ELSEWHERE = {"alpha": ", whose values are those of theory.alpha and simulation.alpha"}


class _SchemaWriter(GenerateJsonSchema):
    """Writes optional keys as keys that may be left out; a key's own name is its title."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        written = super().default_schema(schema)
        if written.get("default", ...) is None:
            del written["default"]
        return written


@cache
def json_schema(model: type[BaseModel]) -> Node:
    """Return the JSON schema of a model, for editors and messages."""
    return model.model_json_schema(schema_generator=_SchemaWriter)


def schema_files() -> dict[str, str]:
    """Return the text of each schema file by its name; overlays of the config need no key."""
    config = json_schema(Config)
    schemas = {
        "config": config,
        "overlay": _without_required(config),
        "figure": json_schema(Figure),
    }
    return {
        f"{name}.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in schemas.items()
    }


def _without_required(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    return {key: _without_required(part) for key, part in node.items() if key != "required"}


def check_config(
    model: type[Model], value: Any, file: str
) -> tuple[Model | None, list[ConfigFault]]:
    """Check what a file says against a model.

    Parameters
    ----------
    model : type of pydantic.BaseModel
    value : object
        What YAML reads from the file.
    file : str
        Its name, for messages.

    Returns
    -------
    BaseModel or None
        The checked values, None where there are faults.
    list of ConfigFault
        Every fault, each once.
    """
    try:
        return model.model_validate(value), []
    except ValidationError as error:
        schema = json_schema(model)
        tree = _written_out(schema, schema.get("$defs", {}))
        return None, list(_faults(tree, error.errors(include_url=False), file))


class _Place(NamedTuple):
    """A place in a file.

    Attributes
    ----------
    path : str
        The keys and indices that lead there.
    node : dict
        What its schema says there, with all definitions written out.
    kinds : list of dict
        Where mappings of several kinds are allowed, what it says of each kind.
    """

    path: str
    node: Node
    kinds: list[Node]


def _written_out(node: Any, definitions: Node) -> Any:
    """Replace references by the definitions, each with its name as its tag."""
    if isinstance(node, list):
        return [_written_out(part, definitions) for part in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        return {"tag": name, **_written_out(definitions[name], definitions)}
    return {key: _written_out(part, definitions) for key, part in node.items() if key != "$defs"}


def _step(key: object) -> str:
    """Write one step of a path; a key that is no plain word in quotes."""
    text = str(key)
    return text if re.fullmatch(r"[\w.:+-]{1,60}", text, re.ASCII) else shown(key)


def _locate(node: Node, steps: Iterable[Any]) -> _Place:
    """Follow an error's keys, indices and tags of alternatives through a schema."""
    place = _Place("", node, [])
    for step in steps:
        if "anyOf" in node:  # plain values: no alternative leads deeper
            break
        if "oneOf" in node:
            kinds = [part for part in node["oneOf"] if "tag" in part]
            node = next(part for part in node["oneOf"] if _tag(part) == step)
            # Of one value or a list, messages say that both are allowed.
            place = place._replace(node=node if kinds else place.node, kinds=kinds)
            continue
        inner = node.get("properties", {}).get(step)
        inner = inner or node.get("items") or node.get("additionalProperties")
        node = inner or next(iter(node["patternProperties"].values()))
        place = _Place(f"{place.path}.{_step(step)}".lstrip("."), node, [])
    return place


def _tag(part: Node) -> str:
    return str(part.get("tag", LIST if part.get("type") == "array" else ONE))


def _faults(schema: Node, errors: list[ErrorDetails], file: str) -> Iterator[ConfigFault]:
    """Yield the faults of a file, those of one mapping's keys together."""
    keys: dict[tuple[str, str], tuple[_Place, list[Any]]] = {}
    found: set[ConfigFault] = set()
    for error in errors:
        if kind := _KEY_ERRORS.get(error["type"]):
            *steps, key = error["loc"]
            place = _locate(schema, steps)
            key = error["input"] if error["type"] == "invalid_key" else key
            keys.setdefault((place.path, kind), (place, []))[1].append(key)
        elif (fault := _value_fault(schema, error, file)) not in found:
            found.add(fault)
            yield fault
    for (path, kind), (place, names) in keys.items():
        if kind == "missing":
            yield ConfigFault(file, path, f"missing key {', '.join(map(repr, sorted(names)))}")
        else:
            yield from _unknown_keys(place, names, file)


def _value_fault(schema: Node, error: ErrorDetails, file: str) -> ConfigFault:
    steps = error["loc"]
    of_key = steps[-1:] == ("[key]",)
    place = _locate(schema, steps[:-2] if of_key else steps)
    if error["type"] == "kind":
        return ConfigFault(file, place.path, error["msg"])
    reason = error.get("ctx", {}).get("error")  # of a ValueError that a model raises
    sentence = (
        reason or f"must be {_allowed(place.node['propertyNames'] if of_key else place.node)}"
    )
    return ConfigFault(file, place.path, f"{shown(error['input'])} {sentence}")


def _unknown_keys(place: _Place, keys: list[Any], file: str) -> Iterator[ConfigFault]:
    """Yield what is wrong with unknown keys: one kind of panel may know those of another."""
    unknown = []
    for key in keys:
        homes = [kind["title"] for kind in place.kinds if key in kind["properties"]]
        if homes:
            problem = f"is for {' or '.join(homes)}; this panel is for {place.node['title']}"
            problem += _ELSEWHERE.get(key, "")
            yield ConfigFault(file, f"{place.path}.{_step(key)}", problem)
        else:
            unknown.append(key)
    if unknown:
        names = ", ".join(map(shown, sorted(unknown, key=str)))
        known = ", ".join(sorted(place.node["properties"]))
        yield ConfigFault(file, place.path, f"unknown key {names}; the keys are {known}")


def _allowed(node: Node) -> str:
    """Say which values a schema allows."""
    if message := node.get("errorMessage"):
        return str(message).removeprefix("must be ")
    match node:
        case {"oneOf": [one, {"type": "array"}]}:
            return f"{_allowed(one)}, or a list of them, each once"
        case {"anyOf": parts} | {"oneOf": parts}:
            return ", or ".join(_allowed(part) for part in parts)
        case {"enum": choices}:
            return " or ".join(map(str, choices))
        case {"const": only}:
            return str(only)
        case {"type": "array", "items": entry}:
            return f"a list of one or more entries, each {_allowed(entry)}"
        case {"type": "object", "properties": known}:
            return f"a mapping with the keys {', '.join(known)}"
        case {"type": "integer", "minimum": least, "maximum": most}:
            return f"a whole number from {least} to {most}"
        case {"type": "integer", "minimum": least}:
            return f"a whole number >= {least}"
        case {"type": "number", "exclusiveMinimum": bound}:
            return f"a finite number > {bound:g}"
        case {"type": "boolean"}:
            return "true or false"
        case {"type": "string"}:
            return "a text"
    raise ValueError(f"no words for the schema {node}")


if __name__ == "__main__":
    for name, text in schema_files().items():
        (Path(sys.argv[1]) / name).write_text(text, encoding="utf-8")
