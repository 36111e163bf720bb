"""Results computed again: a random part of a figure's file, compared bit for bit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from giantstep.pipeline.planning.plan import Curve, FigurePlan, Plan
from giantstep.pipeline.stages import stages
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.recovery import Recovery

# What a file's parts are made by: points of the theory and its spectra, networks of both kinds.
THEORY, SPECTRUM = "theory", "spectrum"
NETWORKS, EIGENVALUES, RECOVERY = "networks", "eigenvalues", "recovery"
_GROUPS = ("group", "other_group")


class VerificationError(ValueError):
    """What was asked for cannot be verified."""


@dataclass(frozen=True)
class Part:
    """One part of a figure's file: a theory point or a network replicate of a curve, counted."""

    curve: Curve
    kind: str
    number: int


@dataclass(frozen=True)
class Difference:
    """A variable of a part that did not come out as it stands in the file."""

    part: Part
    variable: str
    size: float
    relative: float

    def __str__(self) -> str:
        part = self.part
        return (
            f"{part.curve.name}, {part.kind} {part.number}: {self.variable} differs by"
            f" {self.size:.3g} ({self.relative:.3g} of its size)"
        )


def parts(figure: FigurePlan, plan: Plan) -> list[Part]:
    """List all parts of a figure's file."""
    return [
        Part(curve, kind, number)
        for curve in figure.curves
        for kind, count in _counts(curve, plan).items()
        for number in range(count)
    ]


def _counts(curve: Curve, plan: Plan) -> dict[str, int]:
    counts = {}
    if curve.theory:
        counts[THEORY] = len(plan.theory[curve.theory].grid.alpha)
    if curve.shards:
        counts[NETWORKS] = sum(len(plan.montecarlo[key].networks) for key in curve.shards)
    if curve.spectrum:
        counts[SPECTRUM] = 1
        counts[EIGENVALUES] = len(plan.eigenvalues[curve.eigenvalues].networks)
    if curve.recovery:
        counts[RECOVERY] = len(plan.recovery[curve.recovery].networks)
    return counts


def sample(everything: list[Part], size: str, seed: int) -> list[Part]:
    """Draw parts at random: of each kind a share ("5%"), or a number ("3"), at least one.

    Raises
    ------
    VerificationError
        If the size is neither.
    """
    given = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)(%?)", size)
    share, number = (float(given[1]), bool(given[2])) if given else (0.0, False)
    whole = number or share == int(share)
    if share <= 0 or not whole or (number and share > 100):
        raise VerificationError(
            f"--sample {size}: must be a share such as 5%, from above 0% to 100%, or a number of"
            " theory points and of networks such as 3"
        )
    rng = np.random.default_rng(seed)
    drawn: list[Part] = []
    for kind in dict.fromkeys(part.kind for part in everything):
        of_kind = [part for part in everything if part.kind == kind]
        count = round(share / 100 * len(of_kind)) if number else int(share)
        chosen = rng.choice(len(of_kind), min(max(count, 1), len(of_kind)), replace=False)
        drawn += [of_kind[place] for place in sorted(chosen)]
    return drawn


def check_made_from(figure: FigurePlan, data: xr.Dataset) -> None:
    """Refuse a file that was made from other curves, sizes or code than the plan's.

    Raises
    ------
    VerificationError
    """
    if json.loads(data.attrs["made_from"]) != [k for c in figure.curves for k in c.made_from]:
        raise VerificationError(
            f"the file of {figure.name} was made from another configuration, or by other code: run"
            " the workflow first, or name the overlay that it was made with (--configfile)"
        )


def differences(
    plan: Plan, data: xr.Dataset, chosen: list[Part], say: Callable[[Part], None]
) -> Iterator[Difference]:
    """Compute parts of a figure's file again, and give what differs in any bit.

    Parameters
    ----------
    plan : Plan
    data : xarray.Dataset
        The figure's file.
    chosen : list of Part
    say : callable
        Told each part before it is computed.
    """
    solved: dict[str, xr.Dataset] = {}
    with threadpool_limits(1):  # as in the workflow: another number may round differently
        for part in chosen:
            say(part)
            line = data.sel(curve=part.curve.name)
            for name, variable in _again(part, plan, solved).data_vars.items():
                if name in line:
                    yield from _compared(part, variable, line[name])


def _again(part: Part, plan: Plan, solved: dict[str, xr.Dataset]) -> xr.Dataset:
    """Compute a part again; whole curves of the theory once, as points there share roundings."""
    curve = part.curve
    if part.kind == THEORY:
        if curve.theory not in solved:
            points = plan.theory[curve.theory]
            problem = _srf(curve) if points.bulk == ISOTROPIC else points.problem
            solved[curve.theory] = stages.theory(
                problem, points.grid, [], points.optimal, points.bulk
            )
        return solved[curve.theory].isel(alpha=[part.number])
    if part.kind == SPECTRUM:
        return stages.spectral_density(_srf(curve), plan.spectrum[curve.spectrum].alpha, [])
    if part.kind == EIGENVALUES:
        of = replace(plan.eigenvalues[curve.eigenvalues], networks=(part.number,))
        return stages.eigenvalues(of.problem, of.alpha, of.sizes, of.networks, of.root_seed)
    if part.kind == RECOVERY:
        seen = plan.recovery[curve.recovery]
        return stages.recovery(seen.problem, seen.dimension, [part.number], seen.root_seed)
    task = plan.montecarlo[curve.shards[0]]
    return stages.simulation(task.problem, task.grid, task.sizes, [part.number], task.root_seed)


def _srf(curve: Curve) -> Any:
    assert not isinstance(curve.problem, Recovery)
    return stages.srf_of(stages.parameters(curve.problem))


def _compared(part: Part, found: xr.DataArray, stored: xr.DataArray) -> Iterator[Difference]:
    found = found.squeeze("ridge", drop=True) if "ridge" in found.dims else found
    if "alpha_simulated" in stored.dims:
        found = found.rename(alpha="alpha_simulated")
    for dim in _GROUPS:
        if dim in stored.dims and dim not in found.dims:
            found = found.expand_dims({dim: [1]})
    for dim in map(str, found.dims):
        # Other curves may have more groups, points or ranks; a part is of one point or network.
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
    """Give numbers of one type, with one zero and one NaN."""
    numbers = values.values.astype(np.float64)
    return np.where(np.isnan(numbers), np.nan, numbers) + 0.0
