"""Check YAML files against their models: every fault with its place and what is allowed."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from giantstep.suggestions import did_you_mean
from giantstep.validation import shown
from giantstep.workflow.config import Faults
from giantstep.workflow.config_models import KINDS, LIST, ONE, Config, FigureConfig, Simulation

# What pydantic calls alternatives of a type, among the keys that lead to a place.
_TAG = re.compile("|".join([ONE, LIST, *KINDS, "bool|float|str", r"\[key\]|(dict|literal)\[.*"]))


def add_faults(faults: Faults, model: type[BaseModel], given: Any) -> None:
    """Add what is wrong with what a file says, by a model."""
    try:
        model.model_validate(given)
    except ValidationError as error:
        found: dict[tuple[str, str], list[str]] = {}
        for detail in error.errors(include_url=False):
            path = ".".join(_step(key) for key in detail["loc"] if not _TAG.fullmatch(str(key)))
            value, must, allowed = _problem(detail).rpartition(" must be ")
            found.setdefault((path, value + must), []).append(allowed)
        for (path, start), alternatives in found.items():
            faults.add(path, start + " or ".join(alternatives))


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
    message = re.sub(r"valid dictionary( or instance of \w+)?", "mapping", message)
    return f"{shown(error['input'])} {message}"
