"""Questions to begin with, from `presets.yaml`: each is the query of an address."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import yaml


def _address(fields: Mapping[str, Any]) -> str:
    own = [(name, value) for name, value in fields.items() if name != "pins"]
    pins = fields.get("pins", {}).items()
    return urlencode([*own, *(("pin", f"{name}|{urlencode(of)}") for name, of in pins)])


with Path(__file__).with_suffix(".yaml").open(encoding="utf-8") as file:
    PRESETS = {title: _address(fields) for title, fields in yaml.safe_load(file).items()}
