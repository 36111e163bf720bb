"""Results that no configuration refers to any more: found, and removed when told to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from giantstep.pipeline.planning.config import FIGURES, configurations
from giantstep.pipeline.planning.plan import Plan, make_plan
from giantstep.pipeline.runtime.processes import alive

# Below results/, what is the workflow's; anything else there is left alone.
_STAGES = ("srf", "theory", "montecarlo", "spectrum", "eigenvalues", "recovery")
_BY_FIGURE = ("figures", "scores", "checksums", "identity")


def unreferenced(root: Path, overlays: Sequence[Path]) -> list[Path]:
    """List results that no figure refers to, at any configuration of a project.

    Parameters
    ----------
    root : Path
        The project.
    overlays : sequence of Path
        Further configurations than those in its config/.

    Raises
    ------
    InvalidConfigError
        If any configuration or figure has faults: what it refers to is then unknown.
    """
    figures = sorted(path.stem for path in (root / FIGURES).glob("*.yaml"))
    plans = [
        make_plan(root, config | {"figures": figures}) for config in configurations(root, overlays)
    ]
    kept = {name for plan in plans for name in _referenced(plan)}
    results = root / "results"
    return [path for path in _files(results) if _is_left(path, results, kept, set(figures))]


def _referenced(plan: Plan) -> Iterator[str]:
    """Give a plan's results: paths, and folders of replicates, from results/."""
    for figure in plan.figures.values():
        yield from figure.files
        yield from (f"montecarlo/{curve.simulation}" for curve in figure.curves)


def _files(results: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(results):  # which follows no link out of it
        yield from (Path(folder) / name for name in sorted(names))


def _is_left(path: Path, results: Path, kept: set[str], figures: set[str]) -> bool:
    name = path.relative_to(results)
    if path.suffix == ".part":
        writer = path.name.split(".")[-2]
        return not (writer.isdigit() and alive(int(writer)))
    if path.suffix == ".damaged":
        return path.with_suffix("").exists()  # else it says that the file is to be made again
    if name.parts[0] in _STAGES:
        # Replicates that a config with more of them, or a stopped shard, left are kept.
        return name.as_posix() not in kept and name.parent.as_posix() not in kept
    return name.parts[0] in _BY_FIGURE and not figures & {path.stem, path.parent.name}


def remove(paths: Iterable[Path], results: Path) -> None:
    """Remove files below a folder, and folders in it that are then empty."""
    for path in paths:
        path.unlink(missing_ok=True)
        for folder in path.parents:
            if folder == results or any(folder.iterdir()):
                break
            folder.rmdir()
