"""Read the YAML files in `config/`, and tell all that is wrong with them, each with its place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from giantstep.validation import WHOLE_NUMBER, RefusalError, shown, whole_number

FIGURES = Path("config/figures")
MAIN = Path("config/config.yaml")
CONFIG = f"{MAIN} (with its overlays)"


class InvalidConfigError(RefusalError, ValueError):
    """Faults in the configuration; `faults` holds all of them, each with its file and place."""

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        lines = "\n".join(f"  {fault}" for fault in faults)
        text = f"faults in the configuration ({len(faults)}), nothing was started"
        super().__init__(f"{text}:\n{lines}")


@dataclass
class Faults:
    """The faults of one file, each once."""

    file: str
    faults: dict[str, None] = field(default_factory=dict)

    def add(self, path: str, problem: str, file: str = "") -> None:
        """Add a fault at the place to which keys lead, of this file if no other is given."""
        self.faults[f"{file or self.file}: {path or 'top level'}: {problem}"] = None

    def refuse(self) -> None:
        """Raise all faults, if there are any.

        Raises
        ------
        InvalidConfigError
        """
        if self.faults:
            raise InvalidConfigError(list(self.faults))


class _Loader(yaml.SafeLoader):
    """PyYAML, which refuses keys that appear twice, and reads 1.0 and 1e3 as 1 and 1000."""

    def compose_mapping_node(self, anchor: Any) -> Any:
        node = super().compose_mapping_node(anchor)
        known = set[str]()
        for key, _ in node.value:
            if str(key.value) in known:
                text = f"key {shown(key.value)} appears twice"
                raise yaml.constructor.ConstructorError(None, None, text, key.start_mark)
            known.add(str(key.value))
        return node

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        return whole_number(super().construct_object(node, deep))


# Keys whose values are texts, even of digits.
_TEXTS = {"title", "caption"}
# Of YAML 1.2, as people write it: 1e3.
_EXPONENT = r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+"
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(f"{_EXPONENT}$"), list("-+.0123456789")
)


def load_yaml(path: Path, name: str) -> Any:
    """Read a YAML file.

    Raises
    ------
    InvalidConfigError
        If it cannot be read, is no YAML, or repeats a key.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        problem = str(error.strerror)
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        problem = " ".join(str(error).replace('"<unicode string>", ', "").split())
    raise InvalidConfigError([f"{name}: top level: not readable: {problem}"])


def load_config(root: Path, overlays: Sequence[Path] = ()) -> dict[str, Any]:
    """Read a project's config/config.yaml, and lay overlays over it as Snakemake does.

    Raises
    ------
    InvalidConfigError
        As `load_mapping`, for any of them.
    """
    if not (root / MAIN).exists():
        text = "this folder is no project: go to a clone, or let `giantstep init` make one"
        raise InvalidConfigError([f"{root / MAIN}: {text}"])
    config = load_mapping(root / MAIN, str(MAIN))
    for path in overlays:
        config = _overlaid(config, load_mapping(path, str(path)))
    return config


def load_mapping(path: Path, name: str) -> dict[str, Any]:
    """Read config/config.yaml or an overlay, which must be mappings.

    Raises
    ------
    InvalidConfigError
        As `load_yaml`; if the file is empty, a list, or anything else.
    """
    content = load_yaml(path, name)
    if not isinstance(content, dict):
        text = f"{shown(content)} must be a mapping, such as simulation: {{networks: 4}}"
        raise InvalidConfigError([f"{name}: top level: {text}"])
    return content


def figure_names(root: Path) -> list[str]:
    """List the figures that have a YAML.

    Raises
    ------
    OSError
        If there is no folder of figures.
    """
    return sorted(path.stem for path in (root / FIGURES).iterdir() if path.suffix == ".yaml")


def with_numbers(config: Any) -> Any:
    """Read numbers that Snakemake passes as texts, from `--config` or written as 1e3."""
    if isinstance(config, Mapping):
        texts = {k for k in _TEXTS & {*config} if isinstance(config[k], str)}
        return {k: x if k in texts else with_numbers(x) for k, x in config.items()}
    if isinstance(config, str) and re.fullmatch(f"{WHOLE_NUMBER}|{_EXPONENT}", config):
        return yaml.load(config, _Loader)
    return whole_number(config)


def _overlaid(config: Any, overlay: Any) -> Any:
    """Merge mappings; anything else is replaced."""
    if not isinstance(config, dict) or not isinstance(overlay, dict):
        return overlay
    return config | {k: _overlaid(config.get(k), v) for k, v in overlay.items()}
