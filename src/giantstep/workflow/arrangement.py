"""Results under the names that they have in the file of a figure."""

from __future__ import annotations

import numpy as np
import xarray as xr

from giantstep.questions.choices import GAINS, LIMIT, THEORIES
from giantstep.questions.datasets import numbered

_SIMULATED = {"alpha": "alpha_simulated"}
_OPTIMAL = {"ridge": "optimal_ridge", "test_error": "optimal_test_error"}
_OPTIMAL |= {"optimal_ridge_on_edge": "optimal_ridge_on_edge"}
_DIMENSIONS = {"dimension": "theory_dimension"} | _SIMULATED
_STEPS = {"learning_rate": "theory_learning_rate", "steps": "step"} | _SIMULATED
# New names of variables and of dimensions, by role without "limit" or "finite"; a role of which
# variables are named keeps no others.
_NAMES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "optimal": (_OPTIMAL, {}),
    "learned": ({"learned_function": "learned_function"}, _SIMULATED),
    "dimensions": ({"test_error": "test_error_at_dimension"}, _DIMENSIONS),
    "learning_rates": ({"test_error": "test_error_by_learning_rate"}, _STEPS),
    "spectrum": ({"outlier": "outlier"}, {}),
    "replicates": ({}, _SIMULATED),
}


def arrange(role: str, data: xr.Dataset) -> xr.Dataset:
    """Name the variables and dimensions of a result as in the file of a figure.

    Parameters
    ----------
    role : str
        Of its task in `Curve.theory` or `Curve.networks`, or "parameters".
    data : xarray.Dataset
        The answer to the task.

    Returns
    -------
    xarray.Dataset
        With a dimension `theory`, of length 1, of what both theories have.
    """
    if role == "map":
        return _map(data)
    if role == "spectrum":
        return _spectrum(data)
    if role == "references":
        data = data.set_coords(["best_linear_error", "upper_bound", "lower_bound"])
    theory, _, kind = role.partition("_")
    variables, dims = _NAMES.get(kind if theory in THEORIES else role, ({}, {}))
    if variables:
        data = data.reset_coords(variables.keys() & data.coords.keys())[list(variables)]
    data = data.rename(variables | {k: v for k, v in dims.items() if k in data.dims})
    # Stored under other names, or derived from other variables.
    asked = {"alpha", "ridge", "loss", "bulk", "dimension", "total_samples"}
    asked &= data.coords.keys() - data.dims
    data = numbered(data.drop_vars(asked))
    data = data.assign({name: x.astype(np.int8) for name, x in data.items() if x.dtype == bool})
    return data.expand_dims(theory=[theory]) if theory in THEORIES else data


def _spectrum(data: xr.Dataset) -> xr.Dataset:
    """Give points of a density numbers, since those of other curves are elsewhere."""
    data = data.rename(eigenvalue="point", alpha="alpha_spectrum")
    kept = data[["density", "mass_at_zero", "outlier"]].assign(eigenvalue=data["point"].variable)
    kept = kept.assign(outlier=kept["outlier"].expand_dims(theory=[LIMIT]))
    return numbered(kept.drop_vars(["bulk", "dimension", "total_samples"]), ["point"])


def _map(data: xr.Dataset) -> xr.Dataset:
    """Give rows and columns numbers, since other maps vary other parameters."""
    y, x = map(str, data["test_error"].dims)
    kept = data[["test_error", *GAINS]].reset_coords(drop=True)
    kept = kept.rename({"test_error": "map_test_error", y: "row", x: "column"})
    axes = {"map_x": kept["column"].variable, "map_y": kept["row"].variable}
    named = kept.assign(axes).assign_coords(x_parameter=x, y_parameter=y)
    return numbered(named, ("row", "column"))
