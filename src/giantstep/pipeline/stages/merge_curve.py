"""One curve of a figure: all that was computed of it, theory beside simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from giantstep.pipeline.stages.comparison import (
    at_nearest_ridge,
    join_and_summarise,
    score,
    z_scores,
)
from giantstep.pipeline.stages.finite_size import (
    as_limit,
    finite_size_name,
    is_finite_size,
    name_finite_size,
)
from giantstep.pipeline.stages.problem_parameters import read_features
from giantstep.problems.formatting import format_number
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS, Overlaps, by_groups
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.simulation.measurements import SLABS
from giantstep.simulation.replicate_statistics import summarise
from giantstep.theory.bounds import Bounds, best_linear_error, bounds
from giantstep.theory.classification_error import classification_error
from giantstep.theory.conditional_features import conditional_moments
from giantstep.theory.conditional_target import conditional_target
from giantstep.theory.learned_function import learned_function

# Projections on the target at which the theory's learned function is computed; those of the
# simulated slabs are among them.
PROJECTIONS = np.linspace(-3, 3, 121)
# Parameters that vary over these are variables of a merged curve, not labels of it.
_OVER = {"step", "direction"}
# Projections on the spike at which functions of it are computed.
KAPPAS = np.linspace(-4, 4, 161)


def merge_curve(
    name: str,
    panel: str,
    parameters: xr.Dataset,
    labels: Mapping[str, Any],
    theories: Sequence[xr.Dataset] = (),
    shards: Sequence[xr.Dataset] = (),
    spectra: Sequence[xr.Dataset] = (),
    further: Sequence[xr.Dataset] = (),
    finite_features: SpikedFeatures | None = None,
) -> list[xr.Dataset]:
    """Put theory beside simulation for one curve of a figure.

    Parameters
    ----------
    name, panel : str
    parameters : xarray.Dataset
        Result of the stage "parameters"; or `problem_parameters`, where a problem has no equivalent
        spiked features.
    labels : mapping
        Further coordinates: the bulk of the theory, the loss of the readouts, the dimension of the
        simulations.
    theories : sequence of xarray.Dataset
        Results of the stage "theory", on a grid that includes the simulated alphas: that of the
        limit d → ∞, and maybe that of finite dimension.
    shards : sequence of xarray.Dataset
        Results of the stage "montecarlo", with different networks.
    spectra : sequence of xarray.Dataset
        Results of the stages "spectrum" and "eigenvalues".
    further : sequence of xarray.Dataset
        Results of the stages "dimensions" and "learning_rates", if there are any.
    finite_features : SpikedFeatures, optional
        The equivalent features at the simulations' dimension, which the norms of rows depend on;
        for a theory of finite dimension. By default those of `parameters`.

    Returns
    -------
    list of xarray.Dataset
        One for each ridge.
    """
    features = read_features(parameters) if "alignment" in parameters else None
    limits = bounds(features) if features and features.is_aligned else None
    parts = [part.drop_attrs() for part in spectra]
    parts += [part.drop_attrs().rename(alpha="alpha_simulated") for part in further]
    of_steps = parameters[[name for name, x in parameters.items() if _OVER & set(x.dims)]]
    parts.append(of_steps.drop_attrs())
    if features:
        parts.append(_functions(features, limits))
    if spectra:
        density, eigenvalues = spectra
        parts.append(_outliers(density, eigenvalues, float(parameters["beta"])))
    simulation = join_and_summarise(shards) if shards else None
    parts += simulation or ()
    if features:
        for theory in theories:
            at_size = finite_features if is_finite_size(theory) else None
            parts += _compared(at_size or features, theory.drop_attrs(), simulation)
    whole = xr.merge(parts, join="exact", compat="equals")
    whole = whole.assign_coords({
        name: parameters[name].variable for name in parameters.data_vars if name not in of_steps
    })  # fmt: skip
    whole = whole.assign_coords(
        best_linear_error=best_linear_error(parameters["target"].item()),
        upper_bound=limits.upper if limits else np.nan,
        lower_bound=limits.lower if limits else np.nan,
    )
    whole = whole.assign_coords(panel=panel, **labels)
    if "ridge" not in whole.dims:
        return [whole.assign_coords(curve=name)]
    lines = []
    for ridge in whole["ridge"].values.tolist():
        line = f"{name},ridge={format_number(ridge)}" if whole.sizes["ridge"] > 1 else name
        lines.append(score(whole.sel(ridge=ridge).assign_coords(curve=line)))
    return lines


def _compared(
    srf: SpikedFeatures, theory: xr.Dataset, simulation: tuple[xr.Dataset, xr.Dataset] | None
) -> list[xr.Dataset]:
    """Complete a theory, and score the simulations, if there are any, against it."""
    if is_finite_size(theory):
        return [name_finite_size(part) for part in _compared(srf, as_limit(theory), simulation)]
    solved = _classified(srf, theory)
    if not simulation:
        return [solved]
    simulated, summarised = simulation
    at = solved.sel(alpha=simulated["alpha_simulated"]).drop_vars("alpha")
    learned = _learned(srf, at)
    at["learned_function"] = learned.sel(s=SLABS).rename(s="s_simulated")
    scores = z_scores(at, summarised)
    parts = [solved, learned.to_dataset(), scores]
    return [*parts, at_nearest_ridge(at, summarised, scores)] if "optimal_ridge" in at else parts


def _outliers(density: xr.Dataset, simulated: xr.Dataset, beta: float) -> xr.Dataset:
    """Summarise the simulated eigenvalues that stand for the predicted outliers, over d."""
    dimension = simulated.sizes["index"] / beta
    largest = np.sort(simulated["simulated_eigenvalue"].values, axis=1)[:, ::-1] / dimension
    found = summarise(largest[:, None, : density.sizes["rank"]])
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
