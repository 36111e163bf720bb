"""One curve of a figure: all that was computed of it, theory beside simulation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import xarray as xr

from giantstep.problems.formatting import format_number
from giantstep.problems.overlaps import by_groups
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.questions.parameters import problem_parameters
from giantstep.questions.statistics import summary, z_scores
from giantstep.simulation.measurements import SLABS
from giantstep.theory.bounds import best_linear_error, bounds
from giantstep.theory.features.conditional_features import conditional_moments
from giantstep.theory.features.conditional_target import conditional_target
from giantstep.theory.learned_function import learned_function
from giantstep.workflow.arrangement import FINITE, LIMIT, THEORIES, arrange
from giantstep.workflow.comparison import at_nearest_ridge, score
from giantstep.workflow.curves import Curve

# Projections on the target at which the theory's learned function is computed; those of the
# simulated slabs are among them.
PROJECTIONS = np.linspace(-3, 3, 121)
# Projections on the spike at which functions of it are computed.
KAPPAS = np.linspace(-4, 4, 161)
# Parameters that vary over these are variables of a merged curve, not labels of it.
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
    features = equivalent_features_of(results)
    found = {role: arrange(role, x) for role, x in results.items() if role != "finite_parameters"}
    parameters = found.pop("parameters", None)
    parameters = problem_parameters(curve.problem) if parameters is None else parameters
    over = [name for name, x in parameters.items() if _OVER & set(x.dims)]
    labels = {name: x.variable for name, x in parameters.items() if name not in over}
    if "map" in found:
        axes = [found["map"][name].item() for name in ("x_parameter", "y_parameter")]
        labels = {name: x for name, x in labels.items() if name not in axes}
    for data in (results[role] for role in THEORIES if role in results):
        labels["total_samples"] = data["total_samples"].variable  # along alpha
    if "finite_spectrum" in found:  # of the outliers of the limit
        ranks = found["spectrum"]["rank"]
        found["finite_spectrum"] = found["finite_spectrum"].reindex(rank=ranks)
    networks = _networks(curve, found)
    parts = [data.drop_dims("theory", errors="ignore") for data in found.values()]
    parts += [parameters[over], networks, *_theories(curve, features, found, networks)]
    if "map" not in found and features:
        parts.append(_functions(features[LIMIT]))
    whole = xr.merge(parts, join="exact", compat="equals")
    return _lines(whole.assign_coords(labels | _labels(curve, features, found)), curve.name)


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


def _labels(
    curve: Curve, features: Mapping[str, SpikedFeatures], found: Mapping[str, xr.Dataset]
) -> dict[str, Any]:
    """Label a curve with what belongs to it besides the parameters of its problem."""
    labels: dict[str, Any] = {"panel": curve.panel}
    if "map" in found:
        return labels
    labels["dimension"] = curve.dimension
    limits = bounds(features[LIMIT]) if features and features[LIMIT].is_aligned else None
    return labels | {
        "bulk": curve.bulk,
        "loss": curve.loss,
        "best_linear_error": best_linear_error(curve.problem.target, curve.problem.inputs),
        "upper_bound": limits.upper if limits else math.nan,
        "lower_bound": limits.lower if limits else math.nan,
    }


def equivalent_features_of(results: Mapping[str, xr.Dataset]) -> dict[str, SpikedFeatures]:
    """Restore the equivalent features of a curve by theory, from its results, if it has any."""
    if (parameters := results.get("parameters")) is None:
        return {}
    features = {}
    for theory, of in (LIMIT, parameters), (FINITE, results.get("finite_parameters", parameters)):
        of = of.drop_vars("alignment").rename(alignments="alignment") if "alignments" in of else of
        names = [field.name for field in fields(SpikedFeatures) if field.name in of]
        features[theory] = SpikedFeatures(**{name: of[name].values.tolist() for name in names})
    return features


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
    curve: Curve,
    features: Mapping[str, SpikedFeatures],
    found: Mapping[str, xr.Dataset],
    networks: xr.Dataset,
) -> list[xr.Dataset]:
    """Put both theories, and what follows from them, into one dataset along `theory`."""
    both = []
    for theory in THEORIES:
        parts = [
            data[[name for name, x in data.items() if "theory" in x.dims]]
            for data in found.values()
            if theory in data.coords.get("theory", ())
        ]
        if parts:
            solved = xr.merge(parts, join="exact", compat="equals").sel(theory=theory, drop=True)
            completed = _completed(features.get(theory), solved, networks)
            complete = xr.merge(completed, join="exact")
            both.append(complete.assign_coords(theory=theory))
    if not both:
        return []
    joined = xr.concat(both, "theory", data_vars="all", join="left")
    if "z_score_outlier" in joined:
        # At this dimension an eigenvalue of order d may still lie within the bulk.
        spectrum = found["spectrum"]
        largest = spectrum["eigenvalue"].max() / curve.dimension
        apart = spectrum["outlier"].sel(theory=LIMIT, drop=True) > largest
        joined["z_score_outlier"] = joined["z_score_outlier"].where(apart)
    return [joined]


def _completed(
    features: SpikedFeatures | None, solved: xr.Dataset, networks: xr.Dataset
) -> Iterator[xr.Dataset]:
    """Yield a theory, what follows from it, and how far from it the networks are."""
    off_grid = [name for name, x in solved.items() if "ridge" not in x.dims]
    yield z_scores(solved[off_grid], networks)
    yield solved
    if features is None or not ("test_error" in solved and "simulated_test_error_mean" in networks):
        return
    on_grid = solved[[name for name, x in solved.items() if "ridge" in x.dims]]
    at = on_grid.sel(alpha=networks["alpha_simulated"]).drop_vars("alpha")
    learned = _learned(features, at)
    at["learned_function"] = learned.sel(s=SLABS).rename(s="s_simulated")
    scores = z_scores(at, networks)
    yield from (learned.to_dataset(), scores)
    if "optimal_ridge" in solved:
        best = solved["optimal_ridge"].sel(alpha=networks["alpha_simulated"])
        yield at_nearest_ridge(best, networks, scores)


def _functions(features: SpikedFeatures) -> xr.Dataset:
    """Compute functions of the projection on the spike: features, target, and nearest to it."""
    mu0, mu1, _ = conditional_moments(features, KAPPAS)
    values = {
        "mu0": by_groups(("kappa",), mu0.T, ("group",)),
        "kappa_mu1": by_groups(("kappa",), (KAPPAS * mu1).T, ("group",)),
        "conditional_target": (("kappa",), conditional_target(features, KAPPAS).mean),
    }
    if features.is_aligned:
        limits, both = bounds(features), np.concatenate([mu0, KAPPAS * mu1])
        values["upper_bound_function"] = (("kappa",), limits.upper_coefficients @ mu0)
        values["lower_bound_function"] = (("kappa",), limits.lower_coefficients @ both)
    return xr.Dataset(values, coords={"kappa": KAPPAS})


def _learned(features: SpikedFeatures, at: xr.Dataset) -> xr.DataArray:
    """Compute the theory's learned function where there are simulations."""
    grid = at["test_error"]
    m, zeta, psi, xi = (
        at[name].values.reshape(*grid.shape, -1) for name in ("m", "zeta", "psi", "xi")
    )
    values = learned_function(features, m, zeta, psi, PROJECTIONS, xi)
    coords = {"s": PROJECTIONS}
    return xr.DataArray(values, coords, (*grid.dims, "s"), "learned_function")
