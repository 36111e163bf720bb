"""Write the schemas by which editors check YAML files: `python packaging/schemas.py FOLDER`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from giantstep.workflow.config_models import Config, FigureConfig


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
