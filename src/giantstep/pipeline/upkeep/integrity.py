"""Damaged and exchanged results: found when a run starts, and set aside to be made again.

Snakemake sees whether a file exists, not what is in it. So a damaged file, or one that was written
under another name, is renamed before Snakemake looks. Files of data contain a seal. Checksums of
drawings and tables are in the marks of their figure (workflow/rules/identity.smk).
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from giantstep.pipeline.planning.identities import mark, merged_name
from giantstep.pipeline.planning.layout import FIGURE_STAGES, IDENTITY, STAGES
from giantstep.pipeline.planning.plan import Plan
from giantstep.pipeline.planning.shard_task import block_name, block_networks
from giantstep.pipeline.runtime.checksums import (
    DamagedFileError,
    aside,
    check_seal,
    checksum_line,
    set_aside,
)


def set_damaged_aside(project: Path, plan: Plan, warn: Callable[[str], None]) -> None:
    """Rename the files of a plan that are damaged, or another file; and report each.

    What jobs have left that were stopped just before their end is removed.
    """
    _remove_unfinished_drawings(project, plan)
    for path, error in damaged_files(project, plan):
        warn(f"{error}: set aside as {set_aside(path)}, and made again")
    _remove_joined_replicates(project, plan)


def _remove_unfinished_drawings(project: Path, plan: Plan) -> None:
    """Remove drawings and tables whose job was stopped before it noted what it had made."""
    for figure in plan.figures.values():
        for stage in FIGURE_STAGES:
            files = [
                project / file for file in stage.paths(figure.name) if not file.endswith(".nc")
            ]
            if made := [path for path in files if _is_regular(path)]:
                noting = project / mark(plan.root, figure, stage.name)
                if _is_regular(noting) and not noting.stat().st_size:
                    for path in made:
                        path.unlink()


def _remove_joined_replicates(project: Path, plan: Plan) -> None:
    """Remove files of single replicates that are in their shard's file, too.

    The job of the shard was stopped between writing it and removing them.
    """
    for stage, tasks in plan.tasks.items():
        for path in (project / file for key in tasks for file in STAGES[stage].paths(key)):
            held = block_networks(path.stem)
            if len(held) > 1 and _is_regular(path):
                for single in (path.with_name(f"{block_name([network])}.nc") for network in held):
                    single.unlink(missing_ok=True)


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
    data = _data_files(project, plan, figures)
    _check_folders(project, data, figures or plan.figures)
    for path, name in data.items():
        try:
            check_seal(path, name)
        except FileNotFoundError:
            continue
        except DamagedFileError as error:
            yield path, error
    for figure in (plan.figures[name] for name in figures or plan.figures):
        for stage in FIGURE_STAGES:
            files = stage.paths(figure.name)
            # To hash what a figure is made from takes longer than to see that it was never made.
            made = [project / file for file in (str(IDENTITY / figure.name), *files)]
            if any(map(_is_there, made)):
                yield from _unlike_noted(project, mark(plan.root, figure, stage.name), files)


def _check_folders(project: Path, data: Iterable[Path], figures: Iterable[str]) -> None:
    """Refuse anything else in the place of a folder."""
    holding = {path.parent.relative_to(project) for path in data}
    folders = holding | {parent for folder in holding for parent in folder.parents}
    folders |= {IDENTITY, *(IDENTITY / name for name in figures)}
    folders |= {stage.folder for stage in FIGURE_STAGES}
    for path in (project / folder for folder in sorted(folders)):
        if _is_there(path) and not path.is_dir():
            text = "is no folder, nor a link to one: remove it, or mend the link"
            raise NotADirectoryError(errno.ENOTDIR, text, str(path))


def _unlike_noted(
    project: Path, noting: Path, files: Sequence[str]
) -> Iterator[tuple[Path, DamagedFileError]]:
    """Find which drawings or tables are not what was made, as the mark of their figure notes it.

    Those that are not marked as current are about to be made again, which removes regular files.
    """
    noted, noting = "", project / noting
    if marked := _is_regular(noting):
        noted = noting.read_text(errors="replace")
    elif _is_there(noting):
        yield noting, DamagedFileError(f"{noting} is no regular file")
    for file in files:
        path = project / file
        if path.suffix == ".nc" or not _is_there(path):
            continue
        if not _is_regular(path):
            yield path, DamagedFileError(f"{path} is no regular file")
        elif marked and checksum_line(path, file) not in noted:
            yield path, DamagedFileError(f"{path} is not as it was made")


def date_back(project: Path, plan: Plan) -> None:
    """Give the files of a plan that are dated in the future the time of now.

    Snakemake refuses a result that is older than what it was made from. Times do not count here,
    and a copy, or another machine's clock, may have set any.
    """
    marks = [
        project / mark(plan.root, figure, stage.name)
        for figure in plan.figures.values()
        for stage in FIGURE_STAGES
    ]
    now = time.time()
    for path in (*_data_files(project, plan), *marks):
        if path.exists() and path.stat().st_mtime > now:
            os.utime(path, (now, now))


def lost_files(project: Path, plan: Plan) -> list[str]:
    """List the files of a plan that were set aside and not made again, from the project's folder.

    Snakemake would not make a missing result again where all that is made from it exists.
    """
    return [
        str(path.relative_to(project))
        for path in _data_files(project, plan)
        if _is_there(aside(path)) and not path.exists()
    ]


def _is_there(path: Path) -> bool:
    """Check that there is anything, be it a link to nothing."""
    return path.is_symlink() or path.exists()


def _is_regular(path: Path) -> bool:
    """Check that there is a file; a link may lead to another that is about to be set aside."""
    return path.is_file() and not path.is_symlink()


def _data_files(project: Path, plan: Plan, figures: Sequence[str] = ()) -> dict[Path, str | None]:
    """List the files of data of a plan, each with the name that must be inside.

    A merged file that is not marked as current may have any name: it is about to be made again.
    """
    names: dict[Path, str | None] = {}
    for figure in (plan.figures[name] for name in figures or plan.figures):
        for merged in map(project.joinpath, STAGES["merge"].paths(figure.name)):
            current = merged.exists() and (project / mark(plan.root, figure, "merge")).exists()
            names[merged] = merged_name(plan.root, figure) if current else None
        for curve in figure.curves:
            for stage, keys in curve.keys.items():
                for key in keys:
                    for path in STAGES[stage].paths(key):
                        names[project / path] = f"{stage}/{key}"
    return names
