"""What each stage of the workflow computes: problems in, described Datasets out, no files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from giantstep.pipeline.storage.netcdf import describe
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.canonical import plain
from giantstep.problems.formatting import format_vocabulary
from giantstep.problems.grid import Grid
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.recovery import Recovery
from giantstep.problems.sizes import Sizes
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.simulation.eigenvalues import feature_eigenvalues
from giantstep.simulation.measurements import SLABS
from giantstep.simulation.recovery import simulate_recovery
from giantstep.simulation.simulate import Progress, Simulated, simulate
from giantstep.theory.equivalent_features import equivalent_features
from giantstep.theory.optima import optimal_ridge
from giantstep.theory.solution import Solution
from giantstep.theory.solve import solve
from giantstep.theory.spectrum import spectrum

# Points of a spectral density.
POINTS = 600
OF_SRF = dict.fromkeys(("bulk_variance", "spike_strength", "fraction", "bias"), ("group",))
MEASURED = tuple(field.name for field in fields(Simulated))


def parameters(problem: Problem) -> xr.Dataset:
    """Compute the equivalent sRF of a problem, as scalars beside the problem's own parameters."""
    srf = equivalent_features(problem)
    return describe(
        _scalars(_fields(problem) | asdict(srf)),
        title="Spiked random features equivalent to the problem",
        parameters={"problem": plain(problem)},
        made_from=[],
    )


def own_parameters(problem: Problem | Recovery) -> xr.Dataset:
    """Give a problem's own parameters, as scalars."""
    return _scalars(_fields(problem))


def _fields(problem: Problem | Recovery) -> dict[str, Any]:
    values = asdict(problem)
    if isinstance(problem, Protocol):
        values["readout"] = format_vocabulary(problem.readout)
    return values


def _scalars(values: dict[str, Any]) -> xr.Dataset:
    return xr.Dataset({name: _per_group(value) for name, value in values.items()})


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


def by_groups(
    dims: tuple[str, ...], values: NDArray[Any], further: tuple[str, ...]
) -> tuple[tuple[str, ...], NDArray[Any]]:
    """Name an array's dimensions; those of a single group of neurons are dropped."""
    if "group" in further and values.shape[-1] == 1:
        return dims, values.reshape(values.shape[: len(dims)])
    return (*dims, *further), values


def theory(
    problem: Problem,
    grid: Grid,
    made_from: Iterable[str] = (),
    optimal: bool = False,
    bulk: str = ISOTROPIC,
) -> xr.Dataset:
    """Solve Result 3.3, or Appendix C for another loss, on a grid; variables over (alpha, ridge).

    With `optimal`, the best ridge and its test error too, over alpha.
    """
    solution = solve(problem, grid, bulk)
    values: dict[str, NDArray[Any]] = {
        field.name: getattr(solution, field.name) for field in fields(Solution)
    }
    values["status"] = values["status"].astype(np.int8)
    variables = {
        name: by_groups(("alpha", "ridge"), value, OVERLAP_DIMENSIONS.get(name, ()))
        for name, value in values.items()
    }
    if optimal:
        ridge, best = optimal_ridge(problem, np.array(grid.alpha), bulk)
        variables["optimal_ridge"] = (("alpha",), ridge)
        variables["optimal_test_error"] = (("alpha",), best.test_error)
    return describe(
        xr.Dataset(
            variables,
            coords={"alpha": list(grid.alpha), "ridge": list(grid.ridge)},
        ),
        title="Asymptotic theory (Result 3.3, Appendix C)",
        parameters={"problem": plain(problem), "grid": plain(grid), "bulk": bulk},
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
    further = OVERLAP_DIMENSIONS | {"learned_function": ("s_simulated",)}
    raw = xr.Dataset(
        {
            f"simulated_{name}": by_groups(dims, getattr(found, name), further.get(name, ()))
            for name in MEASURED
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
    raw = concatenated(replicates)
    return _described_simulation(raw, problem, grid, sizes, root_seed)


def concatenated(replicates: Sequence[xr.Dataset]) -> xr.Dataset:
    """Put simulations of different networks together, in the networks' order, undescribed."""
    plain_replicates = [one.drop_attrs() for one in replicates]
    whole = xr.concat(
        plain_replicates, "network", data_vars="all", join="exact", combine_attrs="drop"
    )
    return whole.sortby("network")


def spectral_density(srf: SpikedFeatures, alpha: float, made_from: Iterable[str]) -> xr.Dataset:
    """Compute the asymptotic spectrum of the features' covariance at one sample complexity."""
    found = spectrum(srf, alpha, POINTS)
    return describe(
        xr.Dataset(
            {
                "eigenvalue": (("point",), found.x),
                "density": (("point",), found.density),
                "mass_at_zero": found.mass_at_zero,
                "outlier": (("rank",), found.outliers),
            },
            coords={
                "alpha_spectrum": alpha,
                "point": np.arange(1, found.x.size + 1),
                "rank": np.arange(1, found.outliers.size + 1),
            },
        ),
        title="Asymptotic spectrum of the features' covariance",
        parameters={"problem": plain(srf), "alpha": alpha},
        made_from=list(made_from),
    )


def eigenvalues(
    problem: Problem, alpha: float, sizes: Sizes, networks: Sequence[int], root_seed: int
) -> xr.Dataset:
    """Compute the eigenvalues of the features' covariance of simulated networks."""
    found = feature_eigenvalues(problem, alpha, sizes, networks, root_seed)
    return describe(
        xr.Dataset(
            {"simulated_eigenvalue": (("network", "index"), found)},
            coords={"network": list(networks), "index": np.arange(1, found.shape[1] + 1)},
        ),
        title="Eigenvalues of simulated features' covariance",
        parameters={
            "problem": plain(problem),
            "alpha": alpha,
            "sizes": plain(sizes),
            "networks": plain(networks),
        },
        made_from=[],
        root_seed=root_seed,
    )


def recovery(
    problem: Recovery, dimension: int, networks: Sequence[int], root_seed: int
) -> xr.Dataset:
    """Measure what networks see of a multi-index teacher, after each step."""
    found = simulate_recovery(problem, dimension, networks, root_seed)
    dims = ("network", "step", "direction")
    steps, directions = found.overlap.shape[1:]
    return describe(
        xr.Dataset(
            {f"simulated_{name}": (dims, value) for name, value in found._asdict().items()},
            coords={
                "network": list(networks),
                "step": np.arange(steps),
                "direction": np.arange(1, directions + 1),
            },
        ),
        title="Overlaps of trained rows with a teacher's directions",
        parameters={
            "problem": plain(problem),
            "dimension": dimension,
            "networks": plain(networks),
        },
        made_from=[],
        root_seed=root_seed,
    )
