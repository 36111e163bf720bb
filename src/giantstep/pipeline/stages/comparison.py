"""Theory beside simulation: summaries of the replicates, and z-scores."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import xarray as xr

from giantstep.pipeline.stages.finite_size import finite_size_name
from giantstep.pipeline.stages.montecarlo import MEASURED
from giantstep.simulation.replicate_statistics import Summary, summarise

STATISTICS = tuple(field.name for field in fields(Summary))
# Simulated quantities that figures draw, and by which a curve is scored.
DRAWN = (
    "test_error", "classification_error", "learned_function", "optimal_test_error", "overlap",
    "update_overlap",
)  # fmt: skip
# They are scored against the theory of the limit, and against that of finite dimension.
SCORED = tuple(name for drawn in DRAWN for name in (drawn, finite_size_name(drawn)))


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


def z_scores(at: xr.Dataset, summarised: xr.Dataset) -> xr.Dataset:
    """Compute simulated mean minus theory, over the standard error, of all that is measured."""
    scores = {}
    for name in MEASURED:
        gap = summarised[f"simulated_{name}_mean"] - at[name]
        stderr = summarised[f"simulated_{name}_stderr"]
        scores[f"z_score_{name}"] = (gap / stderr).where(stderr > 0)
    return xr.Dataset(scores)


def at_nearest_ridge(at: xr.Dataset, summarised: xr.Dataset, scores: xr.Dataset) -> xr.Dataset:
    """Select the simulations at the ridge nearest to the best, at each sample complexity."""
    ridges, best = at["ridge"].values, at["optimal_ridge"].values
    ratios = np.log(np.maximum(ridges, 1e-300))[:, None] - np.log(best)
    nearest = ridges[np.argmin(np.abs(ratios), axis=0)]
    names = {
        f"simulated_test_error_{part}": f"simulated_optimal_test_error_{part}"
        for part in ("mean", "stderr")
    } | {"z_score_test_error": "z_score_optimal_test_error"}
    places = xr.DataArray(nearest, dims=("alpha_simulated",))
    scored = xr.merge([summarised, scores], join="exact", compat="equals")
    found = scored[list(names)].sel(ridge=places).rename(names).drop_vars("ridge")
    return found.assign(nearest_ridge=("alpha_simulated", nearest))


def score(line: xr.Dataset) -> xr.Dataset:
    """Add the largest and the mean z-score of each drawn quantity over all points of a line."""
    scores = {}
    for name in SCORED:
        if f"z_score_{name}" in line:
            z = line[f"z_score_{name}"]
            scores[f"largest_z_score_{name}"] = abs(z).max()
            scores[f"mean_z_score_{name}"] = z.mean()
    return line.assign(scores)
