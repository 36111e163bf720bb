"""Read the YAML files in `config/`; what is wrong with them is a `ConfigFault` with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

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


# YAML 1.1 reads 1e-4 and 1.0e4, which lack a dot or a sign, as texts; people mean the numbers.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][-+]?[0-9]+\Z"),
    list("-+.0123456789"),
)


# Limits that no real config reaches: characters, values (an anchor's count wherever it is used),
# and levels of nesting.
_LONGEST, _MOST, _DEEPEST = 1_000_000, 100_000, 30


def _parse(text: str) -> Any:
    if len(text) > _LONGEST:
        raise ValueError(f"it has {len(text)} characters, more than {_LONGEST}")
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        if _count(node, {}, 0) > _MOST:
            raise ValueError(
                f"it has more than {_MOST} values, those of an anchor count wherever it is used"
            )
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _count(node: yaml.Node, known: dict[int, int], depth: int) -> int:
    """Count the values below a node; those of an anchor count wherever it is used."""
    if depth > _DEEPEST:
        raise ValueError(f"it is nested more than {_DEEPEST} levels deep, or within itself")
    if id(node) not in known:
        children = node.value if isinstance(node, yaml.CollectionNode) else []
        pairs = (child if isinstance(child, tuple) else (child,) for child in children)
        known[id(node)] = 1 + sum(_count(part, known, depth + 1) for pair in pairs for part in pair)
    return known[id(node)]


def load_yaml(path: Path, name: str) -> Any:
    """Read a YAML file.

    Raises
    ------
    InvalidConfigError
        If it is missing, not YAML, or repeats a key.
    """
    try:
        return _parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidConfigError([ConfigFault(name, "", "there is no such file")]) from None
    except OSError as error:
        raise InvalidConfigError(
            [ConfigFault(name, "", f"not readable: {error.strerror}")]
        ) from None
    except Exception as error:  # PyYAML raises all sorts where values do not fit their tags
        text = " ".join(str(error).split())[:300]
        raise InvalidConfigError([ConfigFault(name, "", f"not readable as YAML: {text}")]) from None


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
        If any is missing, not YAML, or repeats a key.
    """
    config = load_yaml(root / MAIN, str(MAIN))
    for path in overlays:
        config = overlaid(config, load_yaml(path, str(path)))
    return config


def configurations(root: Path, overlays: Sequence[Path] = ()) -> Iterator[Any]:
    """Yield every configuration of a project: the default, alone and under each overlay.

    Overlays are the other files in config/, and those given.

    Raises
    ------
    InvalidConfigError
        As `load_config`.
    """
    yield load_config(root)
    own = sorted(path for path in (root / MAIN).parent.glob("*.yaml") if path != root / MAIN)
    yield from (load_config(root, [path]) for path in (*own, *overlays))
