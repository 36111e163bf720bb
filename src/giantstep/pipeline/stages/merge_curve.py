"""One curve of a figure: all that was computed of it, theory beside simulation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import xarray as xr

from giantstep.pipeline.planning.tasks import Curve
from giantstep.pipeline.stages.comparison import at_nearest_ridge, score, summary, z_scores
from giantstep.pipeline.stages.finite_size import (
    as_limit,
    finite_size_name,
    is_finite_size,
    name_finite_size,
)
from giantstep.pipeline.stages.problem_parameters import problem_parameters, read_features
from giantstep.problems.formatting import format_number
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS, Overlaps, by_groups
from giantstep.problems.recovery import Recovery
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.simulation.measurements import SLABS
from giantstep.simulation.replicate_statistics import summarise
from giantstep.theory.bounds import Bounds, best_linear_error, bounds
from giantstep.theory.features.conditional_features import conditional_moments
from giantstep.theory.features.conditional_target import conditional_target
from giantstep.theory.features.equivalent_features import equivalent_features
from giantstep.theory.learned_function import learned_function
from giantstep.theory.readout.classification_error import classification_error

# Projections on the target at which the theory's learned function is computed; those of the
# simulated slabs are among them.
PROJECTIONS = np.linspace(-3, 3, 121)
# Parameters that vary over these are variables of a merged curve, not labels of it.
_OVER = {"step", "direction"}
# Projections on the spike at which functions of it are computed.
KAPPAS = np.linspace(-4, 4, 161)


def merge_curve(curve: Curve, found: Mapping[str, Sequence[xr.Dataset]]) -> list[xr.Dataset]:
    """Put theory beside simulation for one curve of a figure.

    Parameters
    ----------
    curve : Curve
    found : mapping of str to sequence of xarray.Dataset
        Its results by stage; those of different networks are one dataset. Theory is on a grid that
        includes the simulated alphas. There are no "parameters" where the problem has no equivalent
        spiked features.

    Returns
    -------
    list of xarray.Dataset
        One for each ridge.
    """
    if found.get("parameters"):
        parameters = found["parameters"][0]
    else:
        parameters = problem_parameters(curve.problem)
    features = read_features(parameters) if "alignment" in parameters else None
    limits = bounds(features) if features and features.is_aligned else None
    of_steps = parameters[[name for name, x in parameters.items() if _OVER & set(x.dims)]]
    simulation = [part.rename(alpha="alpha_simulated") for part in found.get("montecarlo", ())]
    simulation += [summary(part) for part in simulation]
    parts = [*found.get("spectrum", ()), *found.get("eigenvalues", ())]
    for stage in ("dimensions", "learning_rates"):
        parts += [part.rename(alpha="alpha_simulated") for part in found.get(stage, ())]
    parts.append(of_steps)
    if features:
        parts.append(_functions(features, limits))
    if "spectrum" in found:
        density, eigenvalues = found["spectrum"][0], found["eigenvalues"][0]
        parts.append(_outliers(density, eigenvalues, parameters["beta"].item()))
    parts += simulation
    if features:
        for theory in found.get("theory", ()):
            parts += _compared(curve, features, theory, simulation)
    whole = xr.merge(parts, join="exact", compat="equals")
    whole = whole.assign_coords({
        name: x.variable for name, x in parameters.items() if name not in of_steps
    }).assign_coords(
        best_linear_error=best_linear_error(parameters["target"].item()),
        upper_bound=limits.upper if limits else np.nan,
        lower_bound=limits.lower if limits else np.nan,
        **{name: getattr(curve, name) for name in ("panel", "bulk", "loss", "dimension")},
    )  # fmt: skip
    return _lines(whole, curve.name)


def _lines(whole: xr.Dataset, name: str) -> list[xr.Dataset]:
    """Split a curve by its ridges, if it has any."""
    if "ridge" not in whole.dims:
        return [whole.assign_coords(curve=name)]
    ridges = whole["ridge"].values.tolist()
    names = [f"{name},ridge={format_number(ridge)}" for ridge in ridges] if ridges[1:] else [name]
    return [
        score(whole.sel(ridge=ridge).assign_coords(curve=line))
        for ridge, line in zip(ridges, names, strict=True)
    ]


def _compared(
    curve: Curve, features: SpikedFeatures, theory: xr.Dataset, simulation: Sequence[xr.Dataset]
) -> Iterable[xr.Dataset]:
    """Complete a theory, and score the simulations, if there are any, against it."""
    if not is_finite_size(theory):
        return _completed(features, theory, *simulation)
    assert not isinstance(curve.problem, Recovery)
    at_size = equivalent_features(curve.problem, curve.dimension)  # the norms of rows depend on it
    return map(name_finite_size, _completed(at_size, as_limit(theory), *simulation))


def _completed(
    srf: SpikedFeatures,
    theory: xr.Dataset,
    simulated: xr.Dataset | None = None,
    summarised: xr.Dataset | None = None,
) -> list[xr.Dataset]:
    """Add to a theory what follows from it, and how far from it a simulation is."""
    solved = _classified(srf, theory)
    if simulated is None or summarised is None:
        return [solved]
    at = solved.sel(alpha=simulated["alpha_simulated"]).drop_vars("alpha")
    learned = _learned(srf, at)
    at["learned_function"] = learned.sel(s=SLABS).rename(s="s_simulated")
    scores = z_scores(at, summarised)
    parts = [solved, learned.to_dataset(), scores]
    return [*parts, at_nearest_ridge(at, summarised, scores)] if "optimal_ridge" in at else parts


def _outliers(density: xr.Dataset, simulated: xr.Dataset, beta: float) -> xr.Dataset:
    """Summarise the simulated eigenvalues that stand for the predicted outliers, over d."""
    dimension = simulated.sizes["index"] / beta
    ascending = simulated["simulated_eigenvalue"].values
    largest = ascending[:, None, ::-1][..., : density.sizes["rank"]] / dimension
    found = summarise(largest)
    # At this dimension an eigenvalue of order d may still lie within the bulk.
    apart = density["outlier"].values * dimension > float(density["eigenvalue"].max())
    values = {"simulated_outlier_mean": found.mean, "simulated_outlier_stderr": found.stderr}
    for name in ("outlier", finite_size_name("outlier")):
        if name in density:
            gap = (found.mean - density[name].values) / found.stderr
            values[f"z_score_{name}"] = np.where(apart, gap, np.nan)
    return xr.Dataset({key: ("rank", x) for key, x in values.items()})


def _functions(srf: SpikedFeatures, limits: Bounds | None) -> xr.Dataset:
    """Compute functions of the projection on the spike: features, target, and nearest to it."""
    mu0, mu1, _ = conditional_moments(srf, KAPPAS)
    values = {
        "mu0": by_groups(("kappa",), mu0.T, ("group",)),
        "kappa_mu1": by_groups(("kappa",), (KAPPAS * mu1).T, ("group",)),
        "conditional_target": (("kappa",), conditional_target(srf, KAPPAS).mean),
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
