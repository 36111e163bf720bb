"""Networks beside the theory: means over replicates, their standard errors, and z-scores."""

from __future__ import annotations

import xarray as xr

from giantstep.simulation.replicate_statistics import summarise

# Statistics of a simulated quantity over its replicates.
STATISTICS = ("mean", "stderr", "network_variance", "training_variance")


def summary(raw: xr.Dataset) -> xr.Dataset:
    """Summarise the replicates of a simulation: mean, standard error, variance components.

    Parameters
    ----------
    raw : xarray.Dataset
        Over `network`, and `training` where there are several training sets: as an answer of
        `networks`.

    Returns
    -------
    xarray.Dataset
        Each of `STATISTICS` of each variable, such as `simulated_test_error_mean`; the variance
        components only where training sets vary.
    """
    values = {}
    for name, measured in raw.data_vars.items():
        several = "training" in measured.dims
        ordered = measured if several else measured.expand_dims("training")
        ordered = ordered.transpose("network", "training", ...)
        statistics = summarise(ordered.values)._asdict()
        for statistic in STATISTICS if several else STATISTICS[:2]:
            values[f"{name}_{statistic}"] = (ordered.dims[2:], statistics[statistic])
    return xr.Dataset(values, raw.drop_vars(["network", "training"], errors="ignore").coords)


def z_scores(theory: xr.Dataset, networks: xr.Dataset) -> xr.Dataset:
    """Compute simulated mean minus theory, over the standard error, of all that is measured.

    Parameters
    ----------
    theory : xarray.Dataset
    networks : xarray.Dataset
        As `summary` returns it.

    Returns
    -------
    xarray.Dataset
        `z_score_test_error` and the like; NaN without a standard error.

    Examples
    --------
    >>> theory = xr.Dataset({"test_error": ("theory", [0.1, 0.3])})
    >>> networks = {"simulated_test_error_mean": 0.2, "simulated_test_error_stderr": 0.05}
    >>> z_scores(theory, xr.Dataset(networks)).z_score_test_error.values
    array([ 2., -2.])
    """
    scores = {}
    for name, predicted in theory.data_vars.items():
        if f"simulated_{name}_mean" in networks:
            mean, stderr = (networks[f"simulated_{name}_{x}"] for x in STATISTICS[:2])
            scores[f"z_score_{name}"] = ((mean - predicted) / stderr).where(stderr > 0)
    return xr.Dataset(scores)
