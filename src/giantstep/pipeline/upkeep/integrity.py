"""Damaged and exchanged results: found when a run starts, and set aside to be made again.

Snakemake sees whether a file exists, not what is in it. So a damaged file, or one that was written
under another name, is renamed before Snakemake looks. What drawings and tables hold is not checked:
delete one, and the next run makes it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from giantstep.pipeline.planning.identities import mark, merged_name
from giantstep.pipeline.planning.layout import FIGURE_STAGES, STAGES
from giantstep.pipeline.planning.plan import Plan
from giantstep.pipeline.runtime.checksums import DamagedFileError, aside, check_seal, set_aside


def set_damaged_aside(project: Path, plan: Plan, warn: Callable[[str], None]) -> None:
    """Rename the files of a plan that are damaged, or another file; and report each."""
    for path, error in damaged_files(project, plan):
        warn(f"{error}: set aside as {set_aside(path)}, and made again")


def damaged_files(
    project: Path, plan: Plan, figures: Sequence[str] = ()
) -> Iterator[tuple[Path, DamagedFileError]]:
    """Find the files of a plan that are damaged, or another file; each with what is wrong.

    Parameters
    ----------
    project : Path
    plan : Plan
    figures : sequence of str
        By default all of the plan.
    """
    for path, name in _data_files(project, plan, figures).items():
        try:
            check_seal(path, name)
        except FileNotFoundError:
            continue
        except DamagedFileError as error:
            yield path, error
        except OSError as error:
            text = f"cannot be read ({error.strerror}): make it readable, or remove it"
            raise OSError(error.errno, text, str(path)) from error
    for name in figures or plan.figures:
        for path in (project / file for stage in FIGURE_STAGES for file in stage.paths(name)):
            if path.suffix != ".nc" and path.exists() and not path.is_file():
                yield path, DamagedFileError(f"{path} is no regular file")


def lost_files(project: Path, plan: Plan) -> list[str]:
    """List the files of a plan that were set aside and not made again, from the project's folder.

    Snakemake would not make a missing result again where all that is made from it exists.
    """
    return [
        str(path.relative_to(project))
        for path in _data_files(project, plan)
        if aside(path).exists() and not path.exists()
    ]


def _data_files(project: Path, plan: Plan, figures: Sequence[str] = ()) -> dict[Path, str | None]:
    """List the files of data of a plan, each with the name that must be inside.

    A merged file that is not marked as current may have any name: it is about to be made again.
    """
    names: dict[Path, str | None] = {}
    for figure in (plan.figures[name] for name in figures or plan.figures):
        current = (project / mark(plan, figure, "merge")).exists()
        for path in STAGES["merge"].paths(figure.name):
            names[project / path] = merged_name(plan, figure) if current else None
        for curve in figure.curves:
            for stage, keys in curve.keys.items():
                for key in keys:
                    for path in STAGES[stage].paths(key):
                        names[project / path] = f"{stage}/{key}"
    return names
