"""Networks beside the theory: the scores of a curve, and networks at its best ridges."""

from __future__ import annotations

import numpy as np
import xarray as xr

# Simulated quantities that figures draw, and by which a curve is scored.
DRAWN = "test_error", "classification_error", "learned_function", "optimal_test_error"


def at_nearest_ridge(
    optimal_ridge: xr.DataArray, networks: xr.Dataset, scores: xr.Dataset
) -> xr.Dataset:
    """Select the simulations at the ridge nearest to the best, at each sample complexity."""
    ridges = networks["ridge"]
    apart = abs(xr.apply_ufunc(np.log, ridges.clip(1e-200) / optimal_ridge))
    nearest = ridges[apart.argmin("ridge", skipna=False)].drop_vars("ridge")
    of_error = "simulated_test_error_mean", "simulated_test_error_stderr", "z_score_test_error"
    names = {name: name.replace("test_error", "optimal_test_error") for name in of_error}
    scored = xr.merge([networks, scores], join="exact", compat="equals")
    found = scored[list(names)].sel(ridge=nearest).rename(names).drop_vars("ridge")
    return found.assign(nearest_ridge=nearest)


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
