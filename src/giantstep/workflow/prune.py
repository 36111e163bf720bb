"""Results that no configuration refers to any more: listed, and removed on request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from giantstep.files import UNFINISHED
from giantstep.workflow.config import MAIN, figure_names, load_config
from giantstep.workflow.figure_plan import KEYS, RESULTS, FigurePlan
from giantstep.workflow.plan import make_plan

# What a run puts into the folder of results.
_OURS = ("parameters/*", "theory/*", "montecarlo/*/*", "figures/*", "scores/*", "keys/*/*")


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
    main = project / MAIN
    own = [path for path in sorted(main.parent.glob("*.yaml")) if path != main]
    configs = [load_config(project), *(load_config(project, [path]) for path in (*own, *overlays))]
    names = figure_names(project)
    # One figure at a time: limits are for what one run makes, and no run makes them all.
    return [
        make_plan(project, config | {"figures": [name]}).figure(name)
        for config in configs
        for name in names
    ]


def unreferenced(project: Path, plans: Iterable[FigurePlan]) -> list[Path]:
    """List the results that no plan refers to; files that the workflow did not make are kept."""
    kept = set()
    for plan in plans:
        # Replicates of a config with more of them are in the same folders.
        files = (*plan.made_from, plan.merged, *plan.scores, f"{KEYS}/{plan.name}")
        kept |= {project / file for file in files}
    ours = {path for some in _OURS for path in (project / RESULTS).glob(some) if not path.is_dir()}
    # No run is at work.
    unfinished = {x for x in ours if x.name.startswith(UNFINISHED) or x.suffix == ".damaged"}
    unknown = {path for path in ours if kept.isdisjoint({path, path.parent})}
    return sorted(unfinished | unknown)


def remove(paths: Iterable[Path]) -> None:
    """Remove files, and the folders that are then empty."""
    for path in paths:
        path.unlink(missing_ok=True)
        if not any(path.parent.iterdir()):
            path.parent.rmdir()
