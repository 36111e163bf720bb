"""The asymptotic spectrum of the features' covariance (Appendix F)."""

from __future__ import annotations

import numpy as np
import xarray as xr

from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.problem import Problem
from giantstep.theory.spectrum import spectrum

TITLE = "Asymptotic spectrum of the features' covariance"
# Of a density.
POINTS = 600


def compute(problem: Problem, alpha: float, bulk: str = ISOTROPIC) -> xr.Dataset:
    """Compute the spectrum at one sample complexity: density, mass at zero and outliers."""
    found = spectrum(problem, alpha, POINTS, bulk=bulk)
    return xr.Dataset(
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
