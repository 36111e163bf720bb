"""Figures that are asked for by name, though the configuration does not list them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from giantstep.pipeline.planning.config import (
    FIGURES,
    ConfigFault,
    InvalidConfigError,
    yaml_files,
)
from giantstep.pipeline.planning.layout import FIGURE_STAGES

# The files of a figure, with its name.
_FILES = re.compile(
    "|".join(
        re.escape(pattern).replace(re.escape("{}"), "([a-z][a-z0-9_]*)")
        for stage in FIGURE_STAGES
        for pattern in stage.files
    )
)


def figures_asked_for(arguments: Iterable[str]) -> list[str]:
    """List the figures of which a command line asks for files.

    Examples
    --------
    >>> figures_asked_for(["--cores", "all", "figures/mine.pdf", "./results/scores/fig2.csv"])
    ['mine', 'fig2']
    """
    found = (_FILES.fullmatch(argument.removeprefix("./")) for argument in arguments)
    return list(dict.fromkeys(name for match in found if match for name in match.groups() if name))


def unlisted_figures(root: Path, config: Any, asked: Iterable[str]) -> list[str]:
    """List the figures that are asked for, but not listed in a configuration.

    Parameters
    ----------
    root : Path
        The folder that holds config/.
    config : dict
        The content of config/config.yaml and its overlays; possibly faulty.
    asked : iterable of str
        Names of figures.

    Raises
    ------
    InvalidConfigError
        If such a figure has no YAML file.
    """
    listed = config.get("figures") if isinstance(config, dict) else None
    if not isinstance(listed, list):
        return []
    unlisted = [name for name in asked if name not in listed]
    known = [path.stem for path in yaml_files(root / FIGURES)] if unlisted else []
    if faults := [_unknown(name, known) for name in unlisted if name not in known]:
        raise InvalidConfigError(faults)
    return unlisted


def _unknown(name: str, known: list[str]) -> ConfigFault:
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}? Or write" if close else "write"
    problem = f"there is no such file: {hint} it (README.md)"
    return ConfigFault(f"{FIGURES}/{name}.yaml", "", problem)
