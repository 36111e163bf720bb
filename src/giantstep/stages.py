"""What each stage of the workflow computes: problems in, described Datasets out, no files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from giantstep.bounds import best_linear_error
from giantstep.canonical import plain
from giantstep.dataset import describe
from giantstep.effective_function import learned_function
from giantstep.learning import Solution, solve
from giantstep.measure import SLABS
from giantstep.montecarlo import Progress, Simulated, simulate
from giantstep.protocol import (
    Grid,
    Problem,
    Protocol,
    SpikedFeatures,
    written,
    written_readout,
)
from giantstep.replicates import Summary, summarise
from giantstep.sizes import Sizes
from giantstep.srf import equivalent_features

ERRORS = ("test_error", "training_error")
# What each group of neurons, and each pair of groups, has of its own.
_OVERLAPS = {
    **dict.fromkeys(("m", "zeta", "psi", "q2", "V2"), ("group",)),
    **dict.fromkeys(("q1", "V1"), ("group", "other_group")),
}
_OF_SRF = dict.fromkeys(("bulk_variance", "spike_strength", "fraction", "bias"), ("group",))
_MEASURED = tuple(field.name for field in fields(Simulated))
_STATISTICS = tuple(field.name for field in fields(Summary))
_OF_GROUPS = (
    _OF_SRF
    | _OVERLAPS
    | {
        name: dims
        for overlap, dims in _OVERLAPS.items()
        for name in (
            f"simulated_{overlap}",
            *(f"simulated_{overlap}_{statistic}" for statistic in _STATISTICS),
            f"z_score_{overlap}",
        )
    }
)
# Where the theory's learned function is computed; the simulated slabs are among these.
PROJECTIONS = np.linspace(-3, 3, 121)


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
    if isinstance(value, bool):
        return (), int(value)
    if not isinstance(value, tuple):
        return (), value
    return ((), value[0]) if len(value) == 1 else (("group",), list(value))


def _by_groups(
    dims: tuple[str, ...], values: NDArray[Any], further: tuple[str, ...]
) -> tuple[tuple[str, ...], NDArray[Any]]:
    """Name an array's dimensions; those of a single group of neurons are dropped."""
    if "group" in further and values.shape[-1] == 1:
        return dims, values.reshape(values.shape[: len(dims)])
    return (*dims, *further), values


def theory(problem: Problem, grid: Grid, made_from: Iterable[str] = ()) -> xr.Dataset:
    """Solve Result 3.3 on a grid; variables over (alpha, ridge)."""
    solution = solve(problem, grid)
    values: dict[str, NDArray[Any]] = {
        field.name: getattr(solution, field.name) for field in fields(Solution)
    }
    values["status"] = values["status"].astype(np.int8)
    return describe(
        xr.Dataset(
            {
                name: _by_groups(("alpha", "ridge"), value, _OVERLAPS.get(name, ()))
                for name, value in values.items()
            },
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
    progress: Progress = lambda share: None,
    threads: int = 1,
) -> xr.Dataset:
    """Simulate network replicates; variables over (network, training, alpha, ridge)."""
    found = simulate(problem, grid, sizes, networks, root_seed, progress, threads)
    dims = ("network", "training", "alpha", "ridge")
    further = _OVERLAPS | {"learned_function": ("s_simulated",)}
    raw = xr.Dataset(
        {
            f"simulated_{name}": _by_groups(dims, getattr(found, name), further.get(name, ()))
            for name in _MEASURED
        },
        coords={
            "network": list(networks),
            "training": list(range(sizes.trainings)),
            "alpha": list(grid.alpha),
            "ridge": list(grid.ridge),
            "s_simulated": SLABS,
        },
    )
    return _described_simulation(raw, problem, grid, sizes, root_seed)


def _described_simulation(
    raw: xr.Dataset, problem: Problem, grid: Grid, sizes: Sizes, root_seed: int
) -> xr.Dataset:
    return describe(
        raw,
        title="Simulated networks (section 2 of the paper)",
        parameters={
            "problem": plain(problem),
            "grid": plain(grid),
            "sizes": plain(sizes),
            "networks": raw["network"].values.tolist(),
        },
        made_from=[],
        root_seed=root_seed,
    )


def joined(
    replicates: Sequence[xr.Dataset], problem: Problem, grid: Grid, sizes: Sizes, root_seed: int
) -> xr.Dataset:
    """Put simulations of different networks together: the same as simulating them at once."""
    raw = _concatenated(replicates)
    return _described_simulation(raw, problem, grid, sizes, root_seed)


def _concatenated(replicates: Sequence[xr.Dataset]) -> xr.Dataset:
    plain_replicates = [one.drop_attrs() for one in replicates]
    whole = xr.concat(
        plain_replicates, "network", data_vars="all", join="exact", combine_attrs="drop"
    )
    return whole.sortby("network")


def summary(simulated: xr.Dataset) -> xr.Dataset:
    """Summarise the replicates of a simulation: mean, standard error, variance components."""
    values = {}
    for name in _MEASURED:
        raw = simulated[f"simulated_{name}"].transpose("network", "training", ...)
        result = summarise(raw.values)
        for statistic in _STATISTICS:
            named = f"simulated_{name}_{statistic}"
            values[named] = (raw.dims[2:], getattr(result, statistic))
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
    simulated = _concatenated(shards).rename(alpha="alpha_simulated")
    summarised = summary(simulated)
    solved = solved.drop_attrs()
    at = solved.sel(alpha=simulated["alpha_simulated"]).drop_vars("alpha")
    learned = _learned(srf_of(srf), at)
    at["learned_function"] = learned.sel(s=SLABS).rename(s="s_simulated")
    whole = xr.merge(
        [solved, learned.to_dataset(), simulated, summarised, _z_scores(at, summarised)],
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


def _learned(srf: SpikedFeatures, at: xr.Dataset) -> xr.DataArray:
    """Compute the theory's learned function where there are simulations."""
    grid = at["test_error"].dims
    m, zeta, psi = (
        at[name].values.reshape(*at["test_error"].shape, -1) for name in ("m", "zeta", "psi")
    )
    return xr.DataArray(
        learned_function(srf, m, zeta, psi, PROJECTIONS),
        dims=(*grid, "s"),
        coords={"s": PROJECTIONS},
        name="learned_function",
    )


def _z_scores(at: xr.Dataset, summarised: xr.Dataset) -> xr.Dataset:
    """Give simulated mean minus theory over the standard error, of all that is measured."""
    scores = {}
    for name in _MEASURED:
        gap = summarised[f"simulated_{name}_mean"] - at[name]
        stderr = summarised[f"simulated_{name}_stderr"]
        scores[f"z_score_{name}"] = (gap / stderr).where(stderr > 0)
    return xr.Dataset(scores)


def _by_group(line: xr.Dataset) -> xr.Dataset:
    """Count a line's groups of neurons from 1, so that lines with other numbers of them align."""
    for name, dims in _OF_GROUPS.items():
        if name in line and dims[0] not in line[name].dims:
            line = line.assign({name: line[name].expand_dims(dict.fromkeys(dims, 1))})
    counts = {d: np.arange(1, line.sizes[d] + 1) for d in ("group", "other_group")}
    # A single group's parameters are coordinates too, after which assign made variables of them.
    return line.assign_coords(counts).set_coords(list(_OF_SRF))


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
