"""One curve of a figure: all that was computed of it, theory beside simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import xarray as xr

from giantstep.problems.formatting import format_number
from giantstep.questions.choices import LIMIT, THEORIES
from giantstep.questions.equivalent_features import problem_parameters
from giantstep.questions.statistics import summary, z_scores
from giantstep.simulation.measurements import SLABS
from giantstep.workflow.arrangement import arrange
from giantstep.workflow.comparison import at_nearest_ridge, score
from giantstep.workflow.curves import Curve

# A parameter that varies along one of these is a variable of a merged curve, not one of its labels.
_OVER = {"step", "direction"}


def merge_curve(curve: Curve, results: Mapping[str, xr.Dataset]) -> list[xr.Dataset]:
    """Put theory beside simulation for one curve of a figure.

    Parameters
    ----------
    curve : Curve
    results : mapping of str to xarray.Dataset
        By role, with "parameters" where the problem has equivalent spiked features.

    Returns
    -------
    list of xarray.Dataset
        One for each ridge.
    """
    found = {role: arrange(role, x) for role, x in results.items()}
    parameters = found.pop("parameters", problem_parameters(curve.problem))
    over = [name for name, x in parameters.items() if _OVER & set(x.dims)]
    labels: dict[str, Any] = {
        str(name): x.variable for name, x in parameters.drop_vars(over).items()
    }
    for data in (results[role] for role in THEORIES if role in results):
        labels["total_samples"] = data["total_samples"].variable  # along alpha
    labels |= {"panel": curve.panel, "dimension": curve.dimension}
    labels |= {"bulk": curve.bulk, "loss": curve.loss}
    if "map" in found:
        axes = [found["map"][name].item() for name in ("x_parameter", "y_parameter")]
        labels = {k: x for k, x in labels.items() if k not in axes}
    if "finite_spectrum" in found:  # of the outliers of the limit
        ranks = found["spectrum"]["rank"]
        found["finite_spectrum"] = found["finite_spectrum"].reindex(rank=ranks)
    networks = _networks(curve, found)
    parts = [data.drop_dims("theory", errors="ignore") for data in found.values()]
    parts += [parameters[over], networks, *_theories(curve, found, networks)]
    whole = xr.merge(parts, join="exact", compat="equals")
    return _lines(whole.assign_coords(labels), curve.name)


def _lines(whole: xr.Dataset, name: str) -> list[xr.Dataset]:
    """Split a curve by its ridges, if it has any."""
    if "ridge" not in whole.dims:
        return [score(whole.assign_coords(curve=name))]
    ridges = whole["ridge"].values.tolist()
    names = [f"{name},ridge={format_number(ridge)}" for ridge in ridges] if ridges[1:] else [name]
    return [
        score(whole.sel(ridge=ridge).assign_coords(curve=line))
        for ridge, line in zip(ridges, names, strict=True)
    ]


def _networks(curve: Curve, found: Mapping[str, xr.Dataset]) -> xr.Dataset:
    """Summarise what was simulated of a curve."""
    parts = [summary(found["replicates"])] if "replicates" in found else []
    if "eigenvalues" in found:
        # The largest stand for the predicted outliers, over d.
        values, ranks = found["eigenvalues"]["simulated_eigenvalue"], found["spectrum"]["rank"]
        largest = values.values[:, ::-1][:, : ranks.size] / curve.dimension
        named = {"simulated_outlier": (("network", "rank"), largest)}
        parts.append(summary(xr.Dataset(named, {"rank": ranks})))
    return xr.merge(parts, join="exact", compat="equals")


def _theories(
    curve: Curve, found: Mapping[str, xr.Dataset], networks: xr.Dataset
) -> list[xr.Dataset]:
    """Put both theories, and how far from them the networks are, along `theory`."""
    bare = [
        x.drop_vars(k for k in x.data_vars if "theory" not in x[k].dims) for x in found.values()
    ]
    parts = [x for x in bare if "theory" in x.dims]
    if not parts:
        return []
    solved = xr.merge(parts, join="outer", compat="no_conflicts")
    off_grid = z_scores(solved[[x for x in solved if "ridge" not in solved[x].dims]], networks)
    if "z_score_outlier" in off_grid:
        # At this dimension an eigenvalue of order d may still lie within the bulk.
        spectrum = found["spectrum"]
        largest = spectrum["eigenvalue"].max() / curve.dimension
        apart = spectrum["outlier"].sel(theory=LIMIT, drop=True) > largest
        off_grid["z_score_outlier"] = off_grid["z_score_outlier"].where(apart)
    parts = [off_grid, solved, *_on_grid(solved, networks)]
    return [part.transpose("theory", ..., missing_dims="ignore") for part in parts]


def _on_grid(solved: xr.Dataset, networks: xr.Dataset) -> list[xr.Dataset]:
    """Say how far from the theory networks are at their sample complexities."""
    if not ("test_error" in solved and "simulated_test_error_mean" in networks):
        return []
    on_grid = solved[[name for name, x in solved.items() if {"ridge", "alpha"} <= {*x.dims}]]
    at = on_grid.sel(alpha=networks["alpha_simulated"]).drop_vars("alpha")
    at["learned_function"] = solved["learned_function"].sel(s=SLABS).rename(s="s_simulated")
    scores = z_scores(at, networks)
    if "optimal_ridge" not in solved:
        return [scores]
    best = solved["optimal_ridge"].sel(alpha=networks["alpha_simulated"]).drop_vars("alpha")
    return [scores, at_nearest_ridge(best, networks, scores)]
