"""Questions to begin with, from `presets.yaml`: each is the query of an address."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

import yaml


def _address(pins: Mapping[str, Any] = MappingProxyType({}), **own: Any) -> str:
    texts = [("pin", f"{name}|{urlencode(of)}") for name, of in pins.items()]
    return urlencode([*own.items(), *texts])


with Path(__file__).with_suffix(".yaml").open(encoding="utf-8") as file:
    PRESETS = {title: _address(**fields) for title, fields in yaml.safe_load(file).items()}
