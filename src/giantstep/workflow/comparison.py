"""Networks beside the theory: means over replicates, z-scores, and the largest of a curve."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import xarray as xr

from giantstep.simulation.replicate_statistics import summarise

# Simulated quantities that figures draw, and by which a curve is scored.
DRAWN = (
    "test_error", "classification_error", "learned_function", "optimal_test_error", "overlap",
    "update_overlap",
)  # fmt: skip
# Of a simulated quantity: its statistics over replicates.
STATISTICS = ("mean", "stderr", "network_variance", "training_variance")


def summary(raw: xr.Dataset) -> xr.Dataset:
    """Summarise the replicates of a simulation: mean, standard error, variance components."""
    values = {}
    for name, measured in raw.data_vars.items():
        several = "training" in measured.dims
        ordered = measured if several else measured.expand_dims("training")
        ordered = ordered.transpose("network", "training", ...)
        found = asdict(summarise(ordered.values))
        for statistic in STATISTICS if several else STATISTICS[:2]:
            values[f"{name}_{statistic}"] = (ordered.dims[2:], found[statistic])
    return xr.Dataset(
        values, {k: x for k, x in raw.coords.items() if k not in ("network", "training")}
    )


def z_scores(theory: xr.Dataset, networks: xr.Dataset) -> xr.Dataset:
    """Compute simulated mean minus theory, over the standard error, of all that is measured."""
    scores = {}
    for name, predicted in theory.data_vars.items():
        if f"simulated_{name}_mean" in networks:
            stderr = networks[f"simulated_{name}_stderr"]
            gap = networks[f"simulated_{name}_mean"] - predicted
            scores[f"z_score_{name}"] = (gap / stderr).where(stderr > 0)
    return xr.Dataset(scores)


def at_nearest_ridge(
    optimal_ridge: xr.DataArray, networks: xr.Dataset, scores: xr.Dataset
) -> xr.Dataset:
    """Select the simulations at the ridge nearest to the best, at each sample complexity."""
    ridges, best = networks["ridge"].values, optimal_ridge.values
    ratios = np.log(np.maximum(ridges, 1e-300))[:, None] - np.log(best)
    nearest = ridges[np.argmin(np.abs(ratios), axis=0)]
    names = {
        f"simulated_test_error_{part}": f"simulated_optimal_test_error_{part}"
        for part in ("mean", "stderr")
    } | {"z_score_test_error": "z_score_optimal_test_error"}
    places = xr.DataArray(nearest, dims=("alpha_simulated",))
    scored = xr.merge([networks, scores], join="exact", compat="equals")
    found = scored[list(names)].sel(ridge=places).rename(names).drop_vars("ridge")
    return found.assign(nearest_ridge=("alpha_simulated", nearest))


def score(line: xr.Dataset) -> xr.Dataset:
    """Add the largest and the mean z-score of each drawn quantity over all points of a line."""
    scores = {}
    for name in DRAWN:
        if f"z_score_{name}" in line:
            z = line[f"z_score_{name}"]
            points = [dim for dim in z.dims if dim != "theory"]
            scores[f"largest_z_score_{name}"] = abs(z).max(points)
            scores[f"mean_z_score_{name}"] = z.mean(points)
    return line.assign(scores)
