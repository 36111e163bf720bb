"""Results that no configuration refers to any more: listed, and removed on request."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from giantstep.files import UNFINISHED
from giantstep.workflow.config import MAIN, figure_names, load_config
from giantstep.workflow.figure_plan import RESULTS, FigurePlan
from giantstep.workflow.plan import make_plan

# Folders in which files have the names of figures.
_OF_FIGURES = ("figures", "scores", "keys")
# And those in which folders of files have the names.
_OF_FOLDERS = ("keys", "montecarlo")


def plans_of_all(project: Path, overlays: Sequence[Path]) -> list[FigurePlan]:
    """Plan every figure of a project with every configuration.

    Parameters
    ----------
    project : Path
    overlays : sequence of Path
        Configurations besides those in its config/, each of which lies over config/config.yaml.

    Raises
    ------
    InvalidConfigError
        If any configuration or figure has faults: what it refers to is then unknown.
    OSError
        If there is no folder of figures.
    """
    names = figure_names(project)
    main = project / MAIN
    own = [path for path in sorted(main.parent.glob("*.yaml")) if path != main]
    configs = [load_config(project), *(load_config(project, [path]) for path in (*own, *overlays))]
    # One figure at a time: limits are for what one run makes, and no run makes them all.
    return [
        make_plan(project, config | {"figures": [name]}).figure(name)
        for config in configs
        for name in names
    ]


def unreferenced(project: Path, plans: Iterable[FigurePlan]) -> list[Path]:
    """List the results that no plan refers to; files that the workflow did not make are kept."""
    kept = {path.removesuffix(".nc") for plan in plans for path in plan.solved}
    # Replicates of a config with more of them are kept, too.
    kept |= {one.folder for plan in plans for one in plan.networks}
    kept |= {f"{RESULTS}/{x}/{name}" for x in _OF_FIGURES for name in figure_names(project)}
    files = (Path(folder, x) for folder, _, names in os.walk(project / RESULTS) for x in names)
    return [path for path in sorted(files) if _is_left_over(path.relative_to(project), kept)]


def _is_left_over(path: Path, kept: set[str]) -> bool:
    """Judge a file of a project, which `results/STAGE/NAME` or a folder of this name holds."""
    if path.name.startswith(UNFINISHED) or path.suffix == ".damaged":  # no run is at work
        return True
    folder, stage, *below = path.parts
    ours = stage in (*_OF_FIGURES, "parameters", "theory", "montecarlo") and below
    if not ours or len(below) > 1 + (stage in _OF_FOLDERS):
        return False
    name = below[0] if len(below) > 1 else path.stem
    return f"{folder}/{stage}/{name}" not in kept


def remove(paths: Iterable[Path], results: Path) -> None:
    """Remove files below a folder, and the folders in it that are then empty."""
    for path in paths:
        path.unlink(missing_ok=True)
        for folder in path.parents:
            if folder == results or any(folder.iterdir()):
                break
            folder.rmdir()
