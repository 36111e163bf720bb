"""The asymptotic spectrum of the features' covariance (Appendix F)."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr

from giantstep.pipeline.stages.finite_size import finite_size_name
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.problem import Problem
from giantstep.theory.outliers import outliers_at
from giantstep.theory.spectrum import spectrum

TITLE = "Asymptotic spectrum of the features' covariance"
# Of a density.
POINTS = 600


def compute(
    problem: Problem, alpha: float, bulk: str = ISOTROPIC, dimension: float = math.inf
) -> xr.Dataset:
    """Compute the spectrum at one sample complexity: density, mass at zero and outliers.

    Outliers at a finite dimension are variables of their own.
    """
    found = spectrum(problem, alpha, POINTS, bulk=bulk)
    data = xr.Dataset(
        {
            "eigenvalue": (("point",), found.x),
            "density": (("point",), found.density),
            "mass_at_zero": found.mass_at_zero,
            "outlier": (("rank",), found.outliers),
        },
        coords={
            "alpha_spectrum": alpha,
            "point": np.arange(1, found.x.size + 1),
            "rank": np.arange(1, found.outliers.size + 1),
        },
    )
    if math.isfinite(dimension):
        at = np.full(found.outliers.size, np.nan)
        apart = outliers_at(problem, alpha, dimension, found.edges[-1, 1])[: at.size]
        at[: apart.size] = apart / dimension
        data[finite_size_name("outlier")] = ("rank", at)
    return data
