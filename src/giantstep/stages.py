"""What each stage of the workflow computes: problems in, described Datasets out, no files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from giantstep.bounds import best_linear_error
from giantstep.canonical import plain
from giantstep.dataset import describe
from giantstep.learning import Solution, solve
from giantstep.montecarlo import Sizes, simulate
from giantstep.protocol import (
    Grid,
    Problem,
    Protocol,
    SpikedFeatures,
    written,
    written_readout,
)
from giantstep.replicates import Summary, summarise
from giantstep.srf import equivalent_features

ERRORS = ("test_error", "training_error")
# What each group of neurons, and each pair of groups, has of its own.
_OF_GROUPS = {
    **dict.fromkeys(("bulk_variance", "spike_strength", "fraction", "bias"), ("group",)),
    **dict.fromkeys(("m", "zeta", "psi", "q2", "V2"), ("group",)),
    **dict.fromkeys(("q1", "V1"), ("group", "other_group")),
}
_OVERLAPS = ("m", "zeta", "psi", "q1", "q2", "V1", "V2")


def parameters(problem: Problem) -> xr.Dataset:
    """Compute the equivalent sRF of a problem, as scalars beside the problem's own parameters."""
    srf = equivalent_features(problem)
    values: dict[str, Any] = asdict(problem) | asdict(srf)
    if isinstance(problem, Protocol):
        values["readout"] = written_readout(problem.readout)
    return describe(
        xr.Dataset({name: _per_group(value) for name, value in values.items()}),
        title="Spiked random features equivalent to the problem",
        parameters={"problem": plain(problem)},
        made_from=[],
    )


def srf_of(dataset: xr.Dataset) -> SpikedFeatures:
    """Read the sRF back from what `parameters` gave."""
    names = [field.name for field in fields(SpikedFeatures)]
    return SpikedFeatures(**{name: dataset[name].values.tolist() for name in names})


def _per_group(value: Any) -> tuple[tuple[str, ...], Any]:
    """Give dimensions and values: a number for one group of neurons, a vector for several."""
    if not isinstance(value, tuple):
        return (), value
    return ((), value[0]) if len(value) == 1 else (("group",), list(value))


def _over_grid(values: NDArray[Any]) -> tuple[tuple[str, ...], NDArray[Any]]:
    """Name the dimensions of a theory's array; those of a single group of neurons are dropped."""
    groups = ("group", "other_group")[: values.ndim - 2]
    if groups and values.shape[-1] == 1:
        return ("alpha", "ridge"), values.reshape(values.shape[:2])
    return ("alpha", "ridge", *groups), values


def theory(problem: Problem, grid: Grid, made_from: Iterable[str] = ()) -> xr.Dataset:
    """Solve Result 3.3 on a grid; variables over (alpha, ridge)."""
    solution = solve(problem, grid)
    values: dict[str, NDArray[Any]] = {
        field.name: getattr(solution, field.name) for field in fields(Solution)
    }
    values["status"] = values["status"].astype(np.int8)
    return describe(
        xr.Dataset(
            {name: _over_grid(value) for name, value in values.items()},
            coords={"alpha": list(grid.alpha), "ridge": list(grid.ridge)},
        ),
        title="Asymptotic theory (Result 3.3)",
        parameters={"problem": plain(problem), "grid": plain(grid)},
        made_from=list(made_from),
    )


def simulation(
    problem: Problem,
    grid: Grid,
    sizes: Sizes,
    networks: Sequence[int],
    root_seed: int,
    progress: Callable[[int], None] = lambda network: None,
) -> xr.Dataset:
    """Simulate network replicates; variables over (network, training, alpha, ridge)."""
    errors = simulate(problem, grid, sizes, networks, root_seed, progress)
    dims = ("network", "training", "alpha", "ridge")
    return describe(
        xr.Dataset(
            {f"simulated_{name}": (dims, getattr(errors, name)) for name in ERRORS},
            coords={
                "network": list(networks),
                "training": list(range(sizes.trainings)),
                "alpha": list(grid.alpha),
                "ridge": list(grid.ridge),
            },
        ),
        title="Simulated networks (section 2 of the paper)",
        parameters={
            "problem": plain(problem),
            "grid": plain(grid),
            "sizes": plain(sizes),
            "networks": plain(networks),
        },
        made_from=[],
        root_seed=root_seed,
    )


def summary(simulated: xr.Dataset) -> xr.Dataset:
    """Summarise the replicates of a simulation: mean, standard error, variance components."""
    values = {}
    for name in ERRORS:
        raw = simulated[f"simulated_{name}"].transpose("network", "training", ...)
        result = summarise(raw.values)
        for field in fields(Summary):
            values[f"simulated_{name}_{field.name}"] = (raw.dims[2:], getattr(result, field.name))
    return xr.Dataset(values)


def curve(
    name: str, panel: str, srf: xr.Dataset, solved: xr.Dataset, shards: Sequence[xr.Dataset]
) -> list[xr.Dataset]:
    """Put theory beside simulation for one curve of a figure; one Dataset a ridge.

    Parameters
    ----------
    name, panel : str
    srf, solved : xarray.Dataset
        From `parameters` and `theory`; the grid of `solved` includes the simulated alphas.
    shards : sequence of xarray.Dataset
        From `simulation`, with different networks.
    """
    simulated = xr.concat(
        [shard.drop_attrs() for shard in shards], "network", join="exact", combine_attrs="drop"
    ).sortby("network")
    simulated = simulated.rename(alpha="alpha_simulated")
    summarised = summary(simulated)
    at = solved["test_error"].sel(alpha=simulated["alpha_simulated"]).drop_vars("alpha")
    z_score = (summarised["simulated_test_error_mean"] - at) / summarised[
        "simulated_test_error_stderr"
    ]
    whole = xr.merge(
        [solved.drop_attrs(), simulated, summarised, z_score.rename("z_score")],
        join="exact",
        compat="equals",
    )
    whole = whole.assign_coords({key: srf[key].variable for key in srf.data_vars})
    whole = whole.assign_coords(best_linear_error=best_linear_error(srf["target"].item()))
    lines = []
    for ridge in whole["ridge"].values.tolist():
        line = f"{name},ridge={written(ridge)}" if whole.sizes["ridge"] > 1 else name
        lines.append(whole.sel(ridge=ridge).assign_coords(curve=line, panel=panel))
    return lines


def _by_group(line: xr.Dataset) -> xr.Dataset:
    """Count a line's groups of neurons from 1, so that lines with other numbers of them align."""
    for name, dims in _OF_GROUPS.items():
        if dims[0] not in line[name].dims:
            line = line.assign({name: line[name].expand_dims(dict.fromkeys(dims, 1))})
    counts = {d: np.arange(1, line.sizes[d] + 1) for d in ("group", "other_group")}
    # A single group's parameters are coordinates too, after which assign made variables of them.
    return line.assign_coords(counts).set_coords([n for n in _OF_GROUPS if n not in _OVERLAPS])


def merged(
    title: str,
    lines: Sequence[xr.Dataset],
    parameters: dict[str, Any],
    made_from: Iterable[str],
    root_seed: int,
) -> xr.Dataset:
    """Put all lines of a figure into one self-contained Dataset along `curve`."""
    if any("group" in line.dims for line in lines):
        lines = [_by_group(line) for line in lines]
    # What only some lines have (alpha0 of a step, say) is NaN, or an empty text, for the others.
    missing = {
        str(name): "" if coordinate.dtype.kind in "OU" else np.nan
        for line in lines
        for name, coordinate in line.coords.items()
        if name not in line.dims
    }
    names = set(missing)
    filled = [
        line.assign_coords({name: missing[name] for name in names - set(map(str, line.coords))})
        for line in lines
    ]
    return describe(
        xr.concat(
            filled,
            "curve",
            data_vars="all",
            coords=sorted(names - {"curve"}),
            compat="equals",
            join="outer",  # of the groups: curves may have different numbers of them
            combine_attrs="drop",
        ),
        title=title,
        parameters=parameters,
        made_from=list(made_from),
        root_seed=root_seed,
    )
