"""Read the YAML files in `config/`; what is wrong with them is a `ConfigFault` with its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from giantstep.pipeline.planning.strict_yaml import UnreadableError, read_yaml

FIGURES = Path("config/figures")
MAIN = Path("config/config.yaml")


@dataclass(frozen=True)
class ConfigFault:
    """One fault of a config: the file, the keys that lead to the place, and what is wrong there."""

    file: str
    path: str
    problem: str

    def __str__(self) -> str:
        return f"{self.file}: {self.path or 'top level'}: {self.problem}"


class InvalidConfigError(ValueError):
    """Faults in the configuration; `faults` holds all of them."""

    def __init__(self, faults: Sequence[ConfigFault]) -> None:
        self.faults = tuple(faults)
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        lines = "\n".join(f"  {fault}" for fault in faults)
        super().__init__(f"{count} in the configuration, nothing was started:\n{lines}")


def load_yaml(path: Path, name: str) -> Any:
    """Read a YAML file.

    Raises
    ------
    InvalidConfigError
        If it cannot be read, is not strict YAML, or repeats a key.
    """
    try:
        return read_yaml(path)
    except UnreadableError as error:
        raise InvalidConfigError([ConfigFault(name, "", str(error))]) from None


def overlaid(config: Any, overlay: Any) -> Any:
    """Lay one config over another, as Snakemake does: mappings merge, anything else is replaced."""
    if not isinstance(config, dict) or not isinstance(overlay, dict):
        return overlay
    return config | {k: overlaid(config.get(k), v) for k, v in overlay.items()}


def load_config(root: Path, overlays: Sequence[Path] = ()) -> Any:
    """Read a project's config/config.yaml, and lay overlays over it, in order.

    Raises
    ------
    InvalidConfigError
        As `load_yaml`, for any of them.
    """
    config = load_yaml(root / MAIN, str(MAIN))
    for path in overlays:
        config = overlaid(config, load_yaml(path, str(path)))
    return config


def yaml_files(folder: Path) -> list[Path]:
    """List the YAML files in a folder; one that cannot be listed is an error, and not empty.

    Raises
    ------
    OSError
    """
    return sorted(path for path in folder.iterdir() if path.suffix == ".yaml")


def configurations(root: Path, overlays: Sequence[Path] = ()) -> Iterator[Any]:
    """Yield every configuration of a project: the default, alone and under each overlay.

    Overlays are the other files in config/, and those given.

    Raises
    ------
    InvalidConfigError
        As `load_config`.
    """
    yield load_config(root)
    own = [path for path in yaml_files((root / MAIN).parent) if path != root / MAIN]
    yield from (load_config(root, [path]) for path in (*own, *overlays))
