"""Damaged results: found when a run starts, and set aside to be made again.

Snakemake sees whether a file exists, not what is in it. So a damaged file is renamed before
Snakemake looks. Drawings and tables are not checked: delete one, and the next run makes it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from giantstep.pipeline.planning.layout import STAGES
from giantstep.pipeline.planning.plan import Plan
from giantstep.pipeline.runtime.checksums import DamagedFileError, aside, check_seal, set_aside


def set_damaged_aside(project: Path, plan: Plan, warn: Callable[[str], None]) -> None:
    """Rename the damaged files of a plan, and report each."""
    for path in _damaged(project, plan):
        warn(f"{path} is damaged: set aside as {set_aside(path)}, and made again")


def _damaged(project: Path, plan: Plan) -> Iterator[Path]:
    for path in _data_files(project, plan):
        try:
            check_seal(path)
        except FileNotFoundError:
            continue
        except DamagedFileError:
            yield path


def lost_files(project: Path, plan: Plan) -> list[str]:
    """List the files of a plan that were set aside and not made again, from the project's folder.

    Snakemake would not make a missing result again where all that is made from it exists.
    """
    return [
        str(path.relative_to(project))
        for path in _data_files(project, plan)
        if aside(path).exists() and not path.exists()
    ]


def _data_files(project: Path, plan: Plan) -> list[Path]:
    """List the files of data of a plan, each once."""
    merged = [path for name in plan.figures for path in STAGES["merge"].paths(name)]
    results = [path for figure in plan.figures.values() for path in figure.files]
    return [project / path for path in dict.fromkeys(merged + results)]
