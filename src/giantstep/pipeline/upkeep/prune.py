"""Results that no configuration refers to any more: found, and removed on request."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from giantstep.pipeline.planning.config import FIGURES, configurations, yaml_files
from giantstep.pipeline.planning.layout import (
    FIGURE_STAGES,
    IDENTITY,
    RESULTS,
    TASK_STAGES,
)
from giantstep.pipeline.planning.plan import Plan, make_plan
from giantstep.pipeline.runtime.processes import alive


def plans_of_all(project: Path, overlays: Sequence[Path]) -> list[Plan]:
    """Plan every figure of a project with every configuration.

    Parameters
    ----------
    project : Path
    overlays : sequence of Path
        Configurations besides those in its config/.

    Raises
    ------
    InvalidConfigError
        If any configuration or figure has faults: what it refers to is then unknown.
    """
    configs = list(configurations(project, overlays))  # all are read before any is planned
    # One figure at a time: limits are for what one run makes, and no run makes them all.
    return [
        make_plan(project, config | {"figures": [one]})
        for config in configs
        for one in _figures(project)
    ]


def _figures(project: Path) -> list[str]:
    return [path.stem for path in yaml_files(project / FIGURES)]


def unreferenced(project: Path, plans: Iterable[Plan]) -> list[Path]:
    """List the results that no plan refers to."""
    kept = {name for plan in plans for name in _referenced(plan)}
    figures = set(_figures(project))
    return [
        path
        for path in _files(project / RESULTS)
        if _is_left_over(path, path.relative_to(project), kept, figures)
    ]


def _referenced(plan: Plan) -> Iterator[Path]:
    """List a plan's results, and its folders of replicates, from the project's folder."""
    for figure in plan.figures.values():
        yield from map(Path, figure.files)
    for stage in TASK_STAGES:
        if stage.sharded:
            folders = {key.rpartition("/")[0] for key in plan.tasks[stage.name]}
            yield from map(stage.folder.joinpath, folders)


def _files(results: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(results):  # which follows no link out of it
        yield from (Path(folder) / name for name in sorted(names))


def _is_left_over(path: Path, name: Path, kept: set[Path], figures: set[str]) -> bool:
    """Judge a file by its name from the project's folder; files of unknown folders are kept."""
    if path.suffix == ".part":
        writer = path.name.split(".")[-2]
        return not (writer.isdigit() and alive(int(writer)))
    if path.suffix == ".damaged":
        return path.with_suffix("").exists()  # otherwise it shows what is to be made again
    if any(stage.folder in name.parents for stage in TASK_STAGES):
        # Replicates of a config with more of them, or of a stopped shard, are kept.
        return name not in kept and name.parent not in kept
    if any(stage.folder in name.parents for stage in FIGURE_STAGES):
        return name.stem not in figures
    return IDENTITY in name.parents and name.parent.name not in figures


def remove(paths: Iterable[Path], results: Path) -> None:
    """Remove files below a folder, and the folders in it that are then empty."""
    for path in paths:
        path.unlink(missing_ok=True)
        for folder in path.parents:
            if folder == results or any(folder.iterdir()):
                break
            folder.rmdir()
