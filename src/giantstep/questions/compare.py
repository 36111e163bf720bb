"""The question `compare`: theory and networks at the same points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem
from giantstep.progress import Progress, bar
from giantstep.questions.arguments import (
    ALPHA,
    BULKS,
    BY,
    DRAWN,
    ENSEMBLE,
    LOSS,
    NETWORKS_CROSS_VALIDATED,
    RIDGE,
    SIZES,
    STOP_AT_TIMES,
)
from giantstep.questions.case import DOUBTS, answer_remarks
from giantstep.questions.choices import FINITE, LIMIT
from giantstep.questions.product import Result
from giantstep.questions.question import question
from giantstep.questions.remarks import OF_COVARIANCE
from giantstep.questions.request import solve_all
from giantstep.questions.simulate import simulate
from giantstep.questions.statistics import z_scores
from giantstep.theory.optima import CROSS_VALIDATION, TEST_ERROR

_ERRORS = ("test_error", "training_error", "test_loss", "training_loss", "classification_error")
_VARIANCES = ("ensemble_error", "variance_of_weights", "variance_of_samples", "squared_bias")
_COMPARED = (*_ERRORS, *CROSS_VALIDATION, *_VARIANCES)
# Variables of an error, beside its theory.
OF_NETWORKS = ("simulated_{}_mean", "simulated_{}_stderr", "z_score_{}")


@question(
    *(ALPHA, RIDGE, *SIZES, BULKS, LOSS, STOP_AT_TIMES, BY),
    *(NETWORKS_CROSS_VALIDATED, ENSEMBLE, *DRAWN),
)
def compare(
    problem: Problem,
    alpha: ArrayLike = 1.0,
    ridge: ArrayLike = 0.1,
    *,
    dimension: int,
    networks: int = 8,
    trainings: int = 1,
    bulk: str | Sequence[str] | None = None,
    loss: str = SQUARE,
    stop_at: ArrayLike | None = None,
    by: str = TEST_ERROR,
    cross_validation: bool = False,
    ensemble: float | None = None,
    test_samples: int = 10_000,
    seed: int = 0,
    threads: int = 1,
    progress: Progress = bar,
) -> Result:
    """Put the theory beside networks: errors, standard errors and z-scores of the same points.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha, ridge
        As in `solve`. Networks have the best ridge that the theory finds at their dimension, or the
        one that cross-validation chooses there.
    dimension, networks, trainings, loss, test_samples, seed, threads
    cross_validation, ensemble, progress
        As in `simulate`.
    stop_at, by
        As in `solve`.
    bulk : str or sequence of str
        Bulk of the first layer in the theory, as in `solve`; a sequence is a dimension.
    max_hours, max_memory
        As in `solve`.

    Returns
    -------
    xarray.Dataset
        For each error, such as the test error: `test_error` of the theory and `z_score_test_error`,
        mean minus theory over the standard error, over `theory`: "limit" as d -> infinity and
        "finite" at the dimension; `simulated_test_error_mean` and `simulated_test_error_stderr` of
        the networks. With `cross_validation`, `leave_one_out`, `gcv` (of the square loss) and
        `k_fold` are among the errors; they have the noise of labels. With `ensemble`, so are
        `ensemble_error` and the variances of `solve`; of infinitely many networks there is the
        theory alone. `status`, `reliability` and the like are as in `solve`. A step smaller than
        the giant one has no limit, and one network no standard error.

    Raises
    ------
    InvalidParametersError
        Listing all invalid arguments.

    Examples
    --------
    >>> import giantstep
    >>> problem = giantstep.Protocol("tanh", "sin", learning_rate=3, alpha0=2, beta=1)
    >>> both = giantstep.compare(
    ...     problem, alpha=[1, 2], dimension=100, networks=4, bulk=["isotropic", "trained"]
    ... )
    >>> both.z_score_test_error.dims
    ('theory', 'bulk', 'alpha')
    >>> scores = both.z_score_test_error.sel(theory="finite", bulk="trained")
    >>> bool((abs(scores) < 5).all())
    True
    """
    theories = ({LIMIT: math.inf} if problem.is_giant_step else {}) | {FINITE: dimension}
    given = {"alpha": alpha, "ridge": ridge, "loss": loss, "bulk": bulk, "by": by}
    if is_chosen := isinstance(ridge, str):
        first = {"bulk": bulk[0] if isinstance(bulk, list) else bulk, "dimension": dimension}
        best, _ = solve_all(problem, given | first, zero_one=False)
        ridge = best["ridge"].values.tolist()
        given |= {"ridge": ridge, "by": TEST_ERROR}
    options: dict[str, Any] = {"cross_validation": cross_validation, "ensemble": ensemble}
    given |= {"dimension": list(theories.values())}
    theory, remarks = solve_all(problem, given, **options, compared=True)
    options |= {"ensemble": None} if ensemble == math.inf else {}
    options |= {"dimension": dimension, "networks": networks, "trainings": trainings, "loss": loss}
    options |= {"test_samples": test_samples, "seed": seed, "threads": threads}
    # The limits are checked already.
    options |= {"progress": progress, "max_hours": math.inf, "max_memory": math.inf}
    means = simulate(problem, alpha, ridge, **options)
    if is_chosen and np.ndim(ridge):  # one for each sample complexity
        each = xr.DataArray(range(means.sizes["alpha"]), dims="alpha")
        theory, means = (one.isel(alpha=each, ridge=each) for one in (theory, means))
        remarks = answer_remarks(theory)
    theory = theory.rename(dimension="theory").assign_coords(theory=list(theories))
    theory = theory.transpose("theory", "bulk", ..., missing_dims="ignore")
    data = _scored(theory, means)
    return data.assign_attrs(networks=networks, trainings=trainings, seed=np.int64(seed)), remarks


def _scored(theory: xr.Dataset, means: xr.Dataset) -> xr.Dataset:
    """Put side by side what belongs to an error: theory, networks and z-scores."""
    names = [name for name in _COMPARED if name in theory or name in means]
    forms = {"{}": "simulated_{}_mean", "{}_stderr": "simulated_{}_stderr"}
    named = {a.format(x): b.format(x) for x in names for a, b in forms.items() if x in means}
    networks = means[[*named]].rename(named)
    scores = z_scores(theory, networks).transpose(*theory["test_error"].dims)
    data = xr.merge([theory, networks, scores], join="exact", compat="equals")
    ordered = [form.format(name) for name in names for form in ("{}", *OF_NETWORKS)]
    ordered += [*DOUBTS, *OF_COVARIANCE, "status"]
    return data[[name for name in ordered if name in data]]
