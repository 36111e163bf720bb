"""The question `spectrum`: the eigenvalues of the features' covariance."""

from __future__ import annotations

import math
from dataclasses import replace

import xarray as xr

from giantstep.problems.bulk_kind import ISOTROPIC, bulk_of_networks
from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem
from giantstep.questions.arguments import ALPHA, BULK, DIMENSION, Many, argument
from giantstep.questions.case import Case
from giantstep.questions.choices import POINTS
from giantstep.questions.product import Result
from giantstep.questions.question import question
from giantstep.questions.remarks import TEXTS
from giantstep.theory.features.conditional_target import label_kurtosis
from giantstep.theory.first_layer.interface import FirstLayer
from giantstep.theory.first_layer.layer import layer_of
from giantstep.theory.spectrum import spectrum as compute_spectrum
from giantstep.validation import raise_all

_ALPHA = replace(ALPHA, many=Many.APART)
_POINTS = argument("spectrum", "points", POINTS)
# The kurtosis of normal labels, up to rounding.
_OF_NORMAL_LABELS = 3.001
_DIMENSION = replace(DIMENSION, text="dimension d, at which outliers are computed")


@question(_ALPHA, _POINTS, BULK, _DIMENSION)
def spectrum(
    problem: Problem,
    alpha: float = 1.0,
    *,
    points: int = 400,
    bulk: str | None = None,
    dimension: float = math.inf,
) -> Result:
    """Compute the spectrum of the features' covariance Phi^T Phi: Appendix F.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha : float
        Sample complexity n/d, > 0.
    points : int
        Number of eigenvalues at which the density is computed, denser towards the ends of the bulk.
    bulk : str
        As in `solve`.
    dimension : float
        Dimension d, at which outliers are computed. The bulk is that of the limit.
    max_hours, max_memory
        As in `solve`.

    Returns
    -------
    xarray.Dataset
        `density` over `eigenvalue` (NaN where the solver failed); `mass_at_zero`, the share of
        eigenvalues that vanish; `outlier` over `rank`, the eigenvalues of order d, divided by d, or
        at a finite dimension all those above the bulk; `bulk_lower_edge` and `bulk_upper_edge` over
        `interval`.

    Raises
    ------
    InvalidParametersError
        Listing all invalid arguments; or if the bulk is too narrow to be found.

    Examples
    --------
    >>> import giantstep
    >>> problem = giantstep.Protocol("tanh", "sin", learning_rate=3, alpha0=0.5, beta=1)
    >>> result = giantstep.spectrum(problem, alpha=2)
    >>> result.bulk_upper_edge.values.round(2)
    array([3.93])
    >>> result.density.sel(eigenvalue=1, method="nearest").round(2).item()
    0.19
    """
    bulk = bulk_of_networks(problem) if bulk is None else bulk
    raise_all(Case(problem, SQUARE, bulk, dimension).faults())
    result = compute_spectrum(problem, alpha, points, bulk, dimension)
    lower, upper = result.edges.T
    values = {"density": ("eigenvalue", result.density), "outlier": ("rank", result.outliers)}
    values |= {"bulk_lower_edge": ("interval", lower), "bulk_upper_edge": ("interval", upper)}
    ranks, intervals = (range(1, len(x) + 1) for x in (result.outliers, lower))
    coords = {"eigenvalue": result.x, "rank": ranks, "interval": intervals, "alpha": float(alpha)}
    data = xr.Dataset(values, coords).assign(mass_at_zero=result.mass_at_zero)
    return data, _remarks(layer_of(problem, dimension), bulk)


def _remarks(layer: FirstLayer, bulk: str) -> list[str]:
    """Remark where the bulk of networks may end elsewhere, and why."""
    if bulk == ISOTROPIC or math.isinf(layer.batch):
        return []
    several = len(getattr(layer.problem, "readout", ())) > 1
    remarks = layer.remarks(bulk) if several else []
    if label_kurtosis(layer.features) > _OF_NORMAL_LABELS:
        remarks = [*remarks, TEXTS["heavy_tails"]]
    return [*remarks, TEXTS["bulk_elsewhere"]] if remarks else []
