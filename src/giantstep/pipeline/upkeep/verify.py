"""Results computed again: a random part of a figure's file, compared bit for bit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from giantstep.pipeline.planning.figure_plan import FigurePlan
from giantstep.pipeline.planning.identities import merged_name
from giantstep.pipeline.planning.layout import STAGES
from giantstep.pipeline.planning.plan import Plan
from giantstep.pipeline.runtime.checksums import sealed_name
from giantstep.pipeline.stages.result import compute_result

_GROUPS = ("group", "other_group")


class VerificationError(ValueError):
    """What is to be verified cannot be."""


@dataclass(frozen=True)
class Part:
    """A part of one result of a curve: one point, one network replicate, or all of it.

    `number` is the place along the stage's dimension `along`.
    """

    curve: str
    stage: str
    key: str
    number: int

    def __str__(self) -> str:
        number = f" {self.number}" if STAGES[self.stage].along else ""
        return f"{self.curve}, {self.stage}{number}"


@dataclass(frozen=True)
class Difference:
    """A variable of a part that did not come out as it is stored in the file."""

    part: Part
    variable: str
    size: float
    relative: float

    def __str__(self) -> str:
        return (
            f"{self.part}: {self.variable} differs by {self.size:.3g} ({self.relative:.3g} of its"
            " size)"
        )


def parts(figure: FigurePlan, plan: Plan) -> list[Part]:
    """List all parts of a figure's file."""
    return [
        Part(curve.name, stage, key, number)
        for curve in figure.curves
        for stage, keys in curve.keys.items()
        for key in keys
        for number in _numbers_along(STAGES[stage].along, plan.tasks[stage][key])
    ]


def _numbers_along(dimension: str, task: Any) -> tuple[int, ...]:
    """List the parts of a task along a dimension; network replicates have numbers already."""
    if dimension == "network":
        return tuple(task.networks)
    if dimension == "alpha":
        return tuple(range(len(task.grid.alpha)))
    return (0,)


def sample(everything: list[Part], size: str, seed: int) -> list[Part]:
    """Draw parts at random: of each stage a share ("5%") or a number ("3"), and at least one.

    Raises
    ------
    VerificationError
        If the size is neither.
    """
    given = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(%?)", size)
    share, is_share = (float(given[1]), bool(given[2])) if given else (0.0, False)
    whole = is_share or share == int(share)
    if share <= 0 or not whole or (is_share and share > 100):
        raise VerificationError(
            f"--sample {size}: must be a share such as 5%, above 0% and up to 100%, or a number"
            " of parts such as 3"
        )
    rng = np.random.default_rng(seed)
    drawn: list[Part] = []
    for stage in dict.fromkeys(part.stage for part in everything):
        of_stage = [part for part in everything if part.stage == stage]
        count = round(share / 100 * len(of_stage)) if is_share else int(share)
        chosen = rng.choice(len(of_stage), min(max(count, 1), len(of_stage)), replace=False)
        drawn += [of_stage[place] for place in sorted(chosen)]
    return drawn


def check_made_from(figure: FigurePlan, plan: Plan, project: Path) -> None:
    """Refuse a figure's file that was made from other curves, sizes or code than the plan's.

    Raises
    ------
    VerificationError
    """
    (path,) = STAGES["merge"].paths(figure.name)
    if sealed_name(project / path) != merged_name(plan.root, figure):
        raise VerificationError(
            f"the file of {figure.name} was made from another configuration, or by other code: run"
            " the workflow first, or name the overlay that it was made with (--configfile)"
        )


def differences(
    plan: Plan, data: xr.Dataset, chosen: list[Part], report: Callable[[Part], None]
) -> Iterator[Difference]:
    """Compute parts of a figure's file again, and yield what differs in any bit.

    Parameters
    ----------
    plan : Plan
    data : xarray.Dataset
        The figure's file.
    chosen : list of Part
    report : callable
        Called with each part before it is computed.
    """
    wholes: dict[str, xr.Dataset] = {}
    with threadpool_limits(1):  # as in the workflow: another number may round differently
        for part in chosen:
            report(part)
            again = _compute_again(part, plan, wholes)
            for line in _lines(part.curve, data):
                found = again.sel(ridge=line["ridge"].item()) if "ridge" in again.dims else again
                for name, variable in found.data_vars.items():
                    if name in line and variable.dtype.kind not in "OUST":
                        yield from _compare(part, variable, line[name])


def _lines(curve: str, data: xr.Dataset) -> Iterator[xr.Dataset]:
    """List the lines of a curve: one, or one for each ridge."""
    for name in data["curve"].values.tolist():
        if name == curve or name.startswith(f"{curve},ridge="):
            yield data.sel(curve=name)


def _compute_again(part: Part, plan: Plan, wholes: dict[str, xr.Dataset]) -> xr.Dataset:
    """Compute a part again; points of a theory are solved together, as they share roundings."""
    stage = STAGES[part.stage]
    module = import_module(stage.module)
    task: Any = plan.tasks[part.stage][part.key]
    if stage.along == "network":
        return compute_result(module, replace(task, networks=(part.number,)))
    if part.key not in wholes:
        wholes[part.key] = compute_result(module, task)
    whole = wholes[part.key]
    return whole.isel({stage.along: [part.number]}) if stage.along else whole


def _compare(part: Part, found: xr.DataArray, stored: xr.DataArray) -> Iterator[Difference]:
    if "alpha_simulated" in stored.dims:
        found = found.rename(alpha="alpha_simulated")
    for dim in _GROUPS:
        if dim in stored.dims and dim not in found.dims:
            found = found.expand_dims({dim: [1]})
    for dim in map(str, found.dims):
        # Other curves may have more groups, points or ranks than this one.
        known = dim in found.coords and dim not in _GROUPS
        stored = (
            stored.sel({dim: found[dim].values})
            if known
            else stored.isel({dim: slice(found.sizes[dim])})
        )
    before, after = (_numbers(x.transpose(*found.dims)) for x in (stored, found))
    if before.tobytes() != after.tobytes():
        size = float(np.nanmax(np.abs(before - after), initial=0.0))
        scale = float(np.nanmax(np.abs(before), initial=0.0))
        yield Difference(part, str(found.name), size, size / scale if scale else np.inf)


def _numbers(values: xr.DataArray) -> NDArray[np.float64]:
    """Convert to one type, with one zero and one NaN."""
    numbers = values.values.astype(np.float64)
    return np.where(np.isnan(numbers), np.nan, numbers) + 0.0
