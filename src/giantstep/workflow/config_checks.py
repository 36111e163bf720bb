"""Check what YAML files say against their models: every fault with its place and what is allowed.

`python -m giantstep.workflow.config_checks FOLDER` writes the schemas by which editors check the
files.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from inspect import isclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from giantstep.suggestions import did_you_mean
from giantstep.validation import shown
from giantstep.workflow.config import Faults
from giantstep.workflow.config_models import KINDS, LIST, ONE, Config, FigureConfig

# What YAML 1.1 reads otherwise than most people.
_EXPONENT = re.compile(r"[-+]?[0-9.]+[eE][-+]?[0-9]+")


def add_faults(faults: Faults, model: type[BaseModel], given: Any) -> None:
    """Add what is wrong with what a file says, by a model."""
    try:
        model.model_validate(given)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            tags = ONE, LIST, "[key]", *KINDS  # of alternatives
            path = ".".join(_step(key) for key in detail["loc"] if key not in tags)
            faults.add(path, _problem(model, detail))


def _step(key: object) -> str:
    """Write one step of a path; a key that is no plain word in quotes."""
    text = str(key)
    return text if re.fullmatch(r"[\w.:+-]{1,60}", text, re.ASCII) else shown(key)


def _problem(model: type[BaseModel], error: ErrorDetails) -> str:
    """Say what is wrong at a place."""
    value, message = error["input"], error["msg"]
    if error["type"] == "missing":
        return "this key is missing"
    if error["type"] == "extra_forbidden":
        return _unknown_key(model, error["loc"])
    if error["type"] == "kind":
        return message
    message = message.removeprefix("Value error, ").replace("should", "must")
    message = re.sub("^(Input|String|Dictionary|List|Keys) must", "must", message)
    return f"{shown(value)} {message}{_advice(value, error['type'])}"


def _advice(value: Any, kind: str) -> str:
    """Say how YAML 1.1 reads what is often written."""
    if isinstance(value, str) and _EXPONENT.fullmatch(value):
        return ": YAML reads this as a text; write 1.0e+3, with a point and a sign, for 1e3"
    if isinstance(value, bool) and kind == "string_type":
        return ": YAML reads on, off, yes and no as true or false; put a text in quotes"
    return ": leave the key out if it has no value" if value is None else ""


def _unknown_key(model: type[BaseModel], loc: Sequence[Any]) -> str:
    """Say where a key belongs, or which it may be meant to be."""
    for step in map(str, loc[:-1]):
        field = model.model_fields.get(step)
        inner = KINDS.get(step) or (field.annotation if field else None)
        model = inner if isclass(inner) and issubclass(inner, BaseModel) else model
    key, known = str(loc[-1]), list(model.model_fields)
    homes = [title for title, kind in KINDS.items() if key in kind.model_fields]
    if model in KINDS.values() and homes:
        return f"this key is for {' or '.join(homes)}; this panel is for {model.__name__}"
    return f"unknown key{did_you_mean(key, known) or '.'} The keys here are {', '.join(known)}"


def schemas() -> dict[str, str]:
    """Return the text of each schema file by its name; overlays of the config need no key."""
    config = Config.model_json_schema()
    all_schemas = {
        "config": config,
        "overlay": _without_required(config),
        "figure": FigureConfig.model_json_schema(),
    }
    return {
        f"{name}.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in all_schemas.items()
    }


def _without_required(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    return {key: _without_required(part) for key, part in node.items() if key != "required"}


if __name__ == "__main__":
    for name, text in schemas().items():
        (Path(sys.argv[1]) / name).write_text(text, encoding="utf-8")
