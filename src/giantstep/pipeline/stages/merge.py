"""One figure's file: all that was computed of its curves, theory beside simulation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import xarray as xr

from giantstep.numerics.gaussian import moments
from giantstep.numerics.scalar_functions import lookup
from giantstep.pipeline.stages.stages import (
    MEASURED,
    OF_SRF,
    by_groups,
    concatenated,
    own_parameters,
    srf_of,
)
from giantstep.pipeline.storage.netcdf import describe
from giantstep.problems.formatting import format_number
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS, Overlaps
from giantstep.problems.recovery import Recovery
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.teachers import lookup_teacher
from giantstep.simulation.measurements import SLABS
from giantstep.simulation.replicate_statistics import Summary, summarise
from giantstep.theory.bounds import Bounds, best_linear_error, bounds
from giantstep.theory.classification_error import classification_error
from giantstep.theory.conditional_features import conditional_moments
from giantstep.theory.learned_function import learned_function
from giantstep.theory.one_step_recovery import expected_overlaps

STATISTICS = tuple(field.name for field in fields(Summary))
# Where the theory's learned function is computed; the simulated slabs are among these.
PROJECTIONS = np.linspace(-3, 3, 121)
# What figures draw of simulations, and each curve is scored by.
DRAWN = (
    "test_error", "classification_error", "learned_function", "optimal_test_error", "overlap",
    "update_overlap",
)  # fmt: skip
# Where functions of the projection on the spike are.
KAPPAS = np.linspace(-4, 4, 161)
_FUNCTIONS = dict.fromkeys(("mu0", "kappa_mu1"), ("group",))
# Everything that each group of neurons, or pair of groups, has of its own.
_OF_GROUPS = (
    OF_SRF
    | OVERLAP_DIMENSIONS
    | _FUNCTIONS
    | {
        name: dims
        for overlap, dims in OVERLAP_DIMENSIONS.items()
        for name in (
            f"simulated_{overlap}",
            *(f"simulated_{overlap}_{statistic}" for statistic in STATISTICS),
            f"z_score_{overlap}",
        )
    }
)


def summary(simulated: xr.Dataset) -> xr.Dataset:
    """Summarise the replicates of a simulation: mean, standard error, variance components."""
    values = {}
    for name in MEASURED:
        raw = simulated[f"simulated_{name}"].transpose("network", "training", ...)
        result = summarise(raw.values)
        for statistic in STATISTICS:
            named = f"simulated_{name}_{statistic}"
            values[named] = (raw.dims[2:], getattr(result, statistic))
    return xr.Dataset(values)


def curve(
    name: str,
    panel: str,
    srf: xr.Dataset,
    apart: Mapping[str, Any],
    theory: xr.Dataset | None = None,
    shards: Sequence[xr.Dataset] = (),
    spectra: Sequence[xr.Dataset] = (),
) -> list[xr.Dataset]:
    """Put theory beside simulation for one curve of a figure; one Dataset a ridge.

    Parameters
    ----------
    name, panel : str
    srf : xarray.Dataset
        From `stages.parameters`; or `stages.own_parameters`, for want of an equivalent sRF.
    apart : mapping
        What else sets the curve apart: the bulk of its theory, the loss that its readouts minimise,
        the dimension of its simulations.
    theory : xarray.Dataset, optional
        From `stages.theory`, on a grid that includes the simulated alphas.
    shards : sequence of xarray.Dataset
        From `stages.simulation`, with different networks.
    spectra : sequence of xarray.Dataset
        From `stages.spectral_density` and `stages.eigenvalues`.
    """
    features = srf_of(srf) if "alignment" in srf else None
    limits = bounds(features) if features and abs(features.alignment) == 1 else None
    parts = [part.drop_attrs() for part in spectra]
    if features:
        parts.append(_functions(features, limits))
    if spectra:
        density, eigenvalues = spectra
        parts.append(_outliers(density, eigenvalues, float(srf["beta"])))
    if features and theory is not None:
        solved = _classified(features, theory.drop_attrs())
        parts += [solved, *(_beside(features, solved, shards) if shards else ())]
    elif shards:
        parts += _simulated(shards)
    whole = xr.merge(parts, join="exact", compat="equals")
    whole = whole.assign_coords({key: srf[key].variable for key in srf.data_vars})
    whole = whole.assign_coords(
        best_linear_error=best_linear_error(srf["target"].item()),
        upper_bound=limits.upper if limits else np.nan,
        lower_bound=limits.lower if limits else np.nan,
    )
    whole = whole.assign_coords(panel=panel, **apart)
    if "ridge" not in whole.dims:
        return [whole.assign_coords(curve=name)]
    lines = []
    for ridge in whole["ridge"].values.tolist():
        line = f"{name},ridge={format_number(ridge)}" if whole.sizes["ridge"] > 1 else name
        lines.append(_scored(whole.sel(ridge=ridge).assign_coords(curve=line)))
    return lines


def recovered(
    name: str, panel: str, problem: Recovery, dimension: int, simulated: xr.Dataset
) -> xr.Dataset:
    """Put theory beside simulation of what a first layer sees of its teacher.

    Parameters
    ----------
    name, panel : str
    problem : Recovery
    dimension : int
    simulated : xarray.Dataset
        From `stages.recovery`. The theory is that of one step; before it, a row lies along each
        direction by chance.
    """
    simulated = simulated.drop_attrs()
    shape = simulated["simulated_overlap"].shape[1:]
    line = simulated.assign_coords(own_parameters(problem).data_vars)
    expected = expected_overlaps(problem, dimension)
    for drawn, one_step, before in (
        ("overlap", expected.overlap, 1 / dimension),
        ("update_overlap", expected.update_overlap, np.nan),
    ):
        theory = np.full(shape, np.nan)
        theory[0], theory[1] = before, one_step
        found = summarise(simulated[f"simulated_{drawn}"].values[:, None])
        scores = np.where(found.stderr > 0, (found.mean - theory) / found.stderr, np.nan)
        values = {
            drawn: theory,
            f"simulated_{drawn}_mean": found.mean,
            f"simulated_{drawn}_stderr": found.stderr,
            f"z_score_{drawn}": scores,
        }
        line = line.assign({key: (("step", "direction"), x) for key, x in values.items()})
    teacher = lookup_teacher(problem.teacher)
    line = line.assign_coords(leap=teacher.leap, first_batch=problem.batch(dimension))
    return _scored(line.assign_coords(curve=name, panel=panel, dimension=dimension))


def _simulated(shards: Sequence[xr.Dataset]) -> list[xr.Dataset]:
    """Give simulations, and their summaries."""
    simulated = concatenated(shards).rename(alpha="alpha_simulated")
    return [simulated, summary(simulated)]


def _beside(
    srf: SpikedFeatures, theory: xr.Dataset, shards: Sequence[xr.Dataset]
) -> list[xr.Dataset]:
    """Summarise simulations, and score them against the theory."""
    simulated, summarised = _simulated(shards)
    at = theory.sel(alpha=simulated["alpha_simulated"]).drop_vars("alpha")
    learned = _learned(srf, at)
    at["learned_function"] = learned.sel(s=SLABS).rename(s="s_simulated")
    scored = xr.merge([summarised, _z_scores(at, summarised)], join="exact", compat="equals")
    parts = [learned.to_dataset(), simulated, scored]
    return [*parts, _nearest_ridge(at, scored)] if "optimal_ridge" in at else parts


def _nearest_ridge(at: xr.Dataset, scored: xr.Dataset) -> xr.Dataset:
    """Take what was simulated at the ridge nearest to the best, at each sample complexity."""
    ridges, best = at["ridge"].values, at["optimal_ridge"].values
    ratios = np.log(np.maximum(ridges, 1e-300))[:, None] - np.log(best)
    nearest = ridges[np.argmin(np.abs(ratios), axis=0)]
    names = {
        f"simulated_test_error_{part}": f"simulated_optimal_test_error_{part}"
        for part in ("mean", "stderr")
    } | {"z_score_test_error": "z_score_optimal_test_error"}
    places = xr.DataArray(nearest, dims=("alpha_simulated",))
    found = scored[list(names)].sel(ridge=places).rename(names).drop_vars("ridge")
    return found.assign(nearest_ridge=("alpha_simulated", nearest))


def _scored(line: xr.Dataset) -> xr.Dataset:
    """Add the largest and the mean z-score of all points of what figures draw."""
    scores = {}
    for name in DRAWN:
        if f"z_score_{name}" in line:
            z = line[f"z_score_{name}"]
            scores[f"largest_z_score_{name}"] = abs(z).max()
            scores[f"mean_z_score_{name}"] = z.mean()
    return line.assign(scores)


def _outliers(density: xr.Dataset, simulated: xr.Dataset, beta: float) -> xr.Dataset:
    """Summarise the simulated eigenvalues that stand for the predicted outliers, over d."""
    dimension = simulated.sizes["index"] / beta
    largest = np.sort(simulated["simulated_eigenvalue"].values, axis=1)[:, ::-1] / dimension
    found = summarise(largest[:, None, : density.sizes["rank"]])
    values = {"mean": found.mean, "stderr": found.stderr}
    return xr.Dataset({f"simulated_outlier_{key}": ("rank", x) for key, x in values.items()})


def _functions(srf: SpikedFeatures, limits: Bounds | None) -> xr.Dataset:
    """Compute functions of the projection on the spike: features, target, and nearest to it."""
    mu0, mu1, _ = conditional_moments(srf, KAPPAS)
    rho = float(np.sqrt(1 - srf.alignment**2))
    target = moments(lookup(srf.target), srf.alignment * KAPPAS, rho).mean
    values = {
        "mu0": by_groups(("kappa",), mu0.T, ("group",)),
        "kappa_mu1": by_groups(("kappa",), (KAPPAS * mu1).T, ("group",)),
        "conditional_target": (("kappa",), target),
    }
    if limits:
        both = np.concatenate([mu0, KAPPAS * mu1])
        values["upper_bound_function"] = (("kappa",), limits.upper_coefficients @ mu0)
        values["lower_bound_function"] = (("kappa",), limits.lower_coefficients @ both)
    return xr.Dataset(values, coords={"kappa": KAPPAS})


def _classified(srf: SpikedFeatures, theory: xr.Dataset) -> xr.Dataset:
    """Add the 0-1 error to a theory."""
    error = theory["test_error"]
    groups = srf.groups.c.size
    overlaps = Overlaps(**{
        name: theory[name].values.reshape(*error.shape, *(groups,) * len(OVERLAP_DIMENSIONS[name]))
        for name in Overlaps._fields
    })  # fmt: skip
    return theory.assign(classification_error=(error.dims, classification_error(srf, overlaps)))


def _learned(srf: SpikedFeatures, at: xr.Dataset) -> xr.DataArray:
    """Compute the theory's learned function where there are simulations."""
    grid = at["test_error"].dims
    m, zeta, psi, xi = (
        at[name].values.reshape(*at["test_error"].shape, -1) for name in ("m", "zeta", "psi", "xi")
    )
    return xr.DataArray(
        learned_function(srf, m, zeta, psi, PROJECTIONS, xi),
        dims=(*grid, "s"),
        coords={"s": PROJECTIONS},
        name="learned_function",
    )


def _z_scores(at: xr.Dataset, summarised: xr.Dataset) -> xr.Dataset:
    """Give simulated mean minus theory over the standard error, of all that is measured."""
    scores = {}
    for name in MEASURED:
        gap = summarised[f"simulated_{name}_mean"] - at[name]
        stderr = summarised[f"simulated_{name}_stderr"]
        scores[f"z_score_{name}"] = (gap / stderr).where(stderr > 0)
    return xr.Dataset(scores)


def _by_group(line: xr.Dataset) -> xr.Dataset:
    """Count a line's groups of neurons from 1, so that lines with other numbers of them align."""
    for name, dims in _OF_GROUPS.items():
        if name in line and dims[0] not in line[name].dims:
            line = line.assign({name: line[name].expand_dims(dict.fromkeys(dims, 1))})
    counts = {
        d: np.arange(1, line.sizes[d] + 1) for d in ("group", "other_group") if d in line.dims
    }
    # A single group's parameters are coordinates too, after which assign made variables of them.
    return line.assign_coords(counts).set_coords(list(OF_SRF))


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
    whole = xr.concat(
        filled,
        "curve",
        data_vars="all",
        coords=sorted(names - {"curve"}),
        compat="equals",
        join="outer",  # of the groups: curves may have different numbers of them
        combine_attrs="drop",
    )
    return describe(
        _ordered(whole, filled),
        title=title,
        parameters=parameters,
        made_from=list(made_from),
        root_seed=root_seed,
    )


def _ordered(whole: xr.Dataset, lines: Sequence[xr.Dataset]) -> xr.Dataset:
    """Order variables as they first come; xarray's order, of those that some lines lack, varies."""
    names = dict.fromkeys(name for line in lines for name in sorted(line.coords, key=str))
    variables = dict.fromkeys(name for line in lines for name in line.data_vars)
    return xr.Dataset(
        {name: whole[name].variable for name in variables},
        coords={name: whole[name].variable for name in names},
    )


# What a row of scores tells of a curve, besides its name, where it has it.
_TOLD = (
    "activation", "target", "teacher", "learning_rate", "alpha0", "exponent", "dimension",
    "spike_strength", "bulk_variance", "alignment", "beta", "ridge", "noise", "outlier_fraction",
    "outlier_variance", "bulk", "loss", "steps", "reuse_batch",
)  # fmt: skip


def scores(data: xr.Dataset) -> list[dict[str, str]]:
    """Tell each curve's parameters, and how far its theory and simulation are apart.

    Parameters
    ----------
    data : xarray.Dataset
        From `merged`.

    Returns
    -------
    list of dict
        One a curve; parameters of several groups of neurons are joined by blanks.
    """
    rows = []
    for name in data["curve"].values:
        line = data.sel(curve=name)
        row = {"curve": str(name)}
        row |= {key: _told(line[key].values) for key in _TOLD if key in line}
        row |= {
            f"{size}_z_score_{drawn}": _told(line[f"{size}_z_score_{drawn}"].values)
            for drawn in DRAWN
            for size in ("largest", "mean")
            if f"largest_z_score_{drawn}" in line
        }
        if "simulated_outlier_mean" in line:
            names = ("outlier", "simulated_outlier_mean", "simulated_outlier_stderr")
            row |= {key: _told(line[key].values) for key in names}
        rows.append(row)
    return rows


def _told(values: Any) -> str:
    """Write a value, or those of all groups of neurons; nothing for what is missing."""
    several = np.atleast_1d(values)
    if several.dtype.kind in "OUT":
        return " ".join(map(str, several))
    return " ".join(f"{value:.4g}" for value in several if not np.isnan(value))
