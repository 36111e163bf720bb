"""Check what YAML files say against their models: every fault with its place and what is allowed.

`python -m giantstep.workflow.config_checks FOLDER` writes the schemas by which editors check the
files.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from giantstep.suggestions import did_you_mean
from giantstep.validation import shown
from giantstep.workflow.config import Faults
from giantstep.workflow.config_models import KINDS, LIST, ONE, Config, FigureConfig, Simulation


def add_faults(faults: Faults, model: type[BaseModel], given: Any) -> None:
    """Add what is wrong with what a file says, by a model."""
    try:
        model.model_validate(given)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            tags = ONE, LIST, "[key]", *KINDS  # of alternatives
            path = ".".join(_step(key) for key in detail["loc"] if key not in tags)
            faults.add(path, _problem(detail))


def _step(key: object) -> str:
    """Write one step of a path; a key that is no plain word in quotes."""
    text = str(key)
    return text if re.fullmatch(r"[\w.:+-]{1,60}", text, re.ASCII) else shown(key)


def _problem(error: ErrorDetails) -> str:
    """Say what is wrong at a place."""
    if error["type"] == "missing":
        return "this key is missing"
    if error["type"] == "extra_forbidden":
        key = str(error["loc"][-1])
        models: list[type[BaseModel]] = [Config, Simulation, FigureConfig, *KINDS.values()]
        known = {name for model in models for name in model.model_fields}
        if key in known:
            return "this key belongs elsewhere"
        return f"unknown key{did_you_mean(key, sorted(known))}"
    message = error["msg"].removeprefix("Value error, ").replace("should", "must")
    message = re.sub("^(Input|String|Dictionary|List|Keys) must", "must", message)
    return f"{shown(error['input'])} {message}"


def schemas() -> dict[str, str]:
    """Return the text of each schema file by its name; overlays of the config need no key."""
    config, figure = Config.model_json_schema(), FigureConfig.model_json_schema()
    all_schemas = {"config": config, "overlay": _without_required(config), "figure": figure}
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
