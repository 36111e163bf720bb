"""Results checked: every file against its checksum, and a random part computed again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from filecmp import cmp
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import xarray as xr
from threadpoolctl import threadpool_limits

from giantstep.questions.task import Task, answer_task
from giantstep.validation import refusal
from giantstep.workflow import store
from giantstep.workflow.arrangement import arrange
from giantstep.workflow.drawing import draw_figure
from giantstep.workflow.figure_plan import RESULTS, FigurePlan, drawings
from giantstep.workflow.merge import by_group
from giantstep.workflow.scores import write_scores
from giantstep.workflow.shards import with_networks


class Part(NamedTuple):
    """A part of what was computed of a curve: a task of its theory, or one network replicate."""

    curve: str
    role: str
    task: Task

    def __str__(self) -> str:
        number = "".join(f" {network}" for network in self.task.arguments.get("networks", ()))
        return f"{self.curve}, {self.role}{number}"


def parts(figure: FigurePlan) -> list[Part]:
    """List the parts of a figure that its file keeps."""
    found = []
    for curve in figure.curves:
        for role, task in {**curve.theory, **curve.networks}.items():
            each = [with_networks(task, [one]) for one in task.arguments.get("networks", ())]
            found += [Part(curve.name, role, one) for one in each or [task]]
    return found


def sample(everything: list[Part], size: str, seed: int) -> list[Part]:
    """Draw parts at random: of each role a share ("5%") or a number ("3"), and at least one.

    Raises
    ------
    InvalidParametersError
        If the size is neither.
    """
    found = re.fullmatch(r"([0-9]*\.?[0-9]+)(%?)", size)
    if not found or not (number := float(found[1])):
        raise refusal("sample", size, "a share such as 5%, or a number of parts such as 3")
    rng = np.random.default_rng(seed)
    drawn: list[Part] = []
    for role in dict.fromkeys(part.role for part in everything):
        of_role = [part for part in everything if part.role == role]
        count = round(number / 100 * len(of_role) if found[2] else number)
        chosen = rng.choice(len(of_role), min(max(count, 1), len(of_role)), replace=False)
        drawn += [of_role[place] for place in sorted(chosen)]
    return drawn


def differences(data: xr.Dataset, chosen: list[Part]) -> Iterator[tuple[Part, list[str]]]:
    """Compute parts of a figure's file again, and yield each with what differs in any bit.

    Parameters
    ----------
    data : xarray.Dataset
        The figure's file.
    chosen : list of Part
    """
    with threadpool_limits(1):  # as in the workflow: another number may round differently
        for part in chosen:
            again = arrange(part.role, answer_task(part.task))
            # A curve is one line, or one for each ridge.
            names = data["curve"].values.tolist()
            lines = [name for name in names if name.partition(",ridge=")[0] == part.curve]
            texts = (text for line in lines for text in _compare(again, data.sel(curve=line)))
            yield part, list(dict.fromkeys(texts))


def _compare(again: xr.Dataset, line: xr.Dataset) -> Iterator[str]:
    """Describe the numbers of a line that differ from those computed again."""
    again = again.sel(ridge=line["ridge"].item()) if "ridge" in again.dims else again
    again = by_group(again) if "group" in line.dims else again
    for name, found in again.reset_coords().data_vars.items():
        if name not in line or found.dtype.kind in "OUST":
            continue
        # Other curves may have more groups, points or ranks than this one; a dimension may have
        # more outliers than the limit, which are not kept.
        found = found.isel(rank=slice(line.sizes["rank"])) if "rank" in found.dims else found
        stored = line[name].reindex({dim: found[dim] for dim in found.dims}).transpose(*found.dims)
        one, other = found.values.astype(float), stored.values.astype(float)
        if not np.array_equal(one, other, equal_nan=True):
            yield f"{name} differs by {np.nanmax(np.abs(one - other), initial=0.0):.3g}"


def damaged_files(project: Path) -> Iterator[str]:
    """Check every file of results, and tell those that are damaged, or another file."""
    for path in sorted((project / RESULTS).rglob("*.nc")):
        try:
            store.checked(path)
        except store.DamagedFileError as error:
            yield f"{error}: remove it, and a run makes it again where it is needed"


def drawn_otherwise(figure: FigurePlan, data: xr.Dataset, project: Path) -> list[str]:
    """Draw a figure again, and list its drawings and tables of scores that have other bytes.

    What is missing is not listed: a run makes it.
    """
    with TemporaryDirectory() as folder:
        again = {file: Path(folder, Path(file).name) for file in figure.outputs}
        pictures, config = [again[file] for file in drawings(figure.name)], figure.config
        draw_figure(figure.name, config, data, pictures, project)
        write_scores(data, *(again[file] for file in figure.scores))
        made = ((file, project / file) for file in figure.outputs if (project / file).exists())
        return [file for file, path in made if not cmp(path, again[file], shallow=False)]
