"""The question `compare`: theory and networks at the same points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from giantstep.problems.bulk_kind import bulk_of_networks
from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem
from giantstep.questions.arguments import (
    ALPHA,
    BULKS,
    BY,
    DRAWN,
    LOSS,
    NETWORKS_CROSS_VALIDATED,
    NETWORKS_OF_ENSEMBLE,
    RIDGE,
    SIZES,
    STOP_AT_TIMES,
)
from giantstep.questions.case import DOUBTS, Case, answer_remarks
from giantstep.questions.checks import criterion_faults
from giantstep.questions.costs import SIMULATION_HOURS
from giantstep.questions.datasets import drop_fixed
from giantstep.questions.progress import Progress
from giantstep.questions.question import Result, question
from giantstep.questions.remarks import OF_COVARIANCE
from giantstep.questions.simulate import measured, read_simulation
from giantstep.questions.solve import solve
from giantstep.questions.statistics import z_scores
from giantstep.theory.optima import CROSS_VALIDATION, FOLDS, TEST_ERROR
from giantstep.validation import Fault, collected, raise_all

_ERRORS = ("test_error", "training_error", "test_loss", "training_loss", "classification_error")
_VARIANCES = ("ensemble_error", "variance_of_weights", "variance_of_samples", "squared_bias")
_COMPARED = (*_ERRORS, *CROSS_VALIDATION, *_VARIANCES)
# Of an error, beside its theory.
OF_NETWORKS = ("simulated_{}_mean", "simulated_{}_stderr", "z_score_{}")
# The theory as d -> infinity, and at the dimension of the networks.
LIMIT, FINITE = "limit", "finite"


@question(
    *(ALPHA, RIDGE, *SIZES, BULKS, LOSS, STOP_AT_TIMES, BY),
    *(NETWORKS_CROSS_VALIDATED, NETWORKS_OF_ENSEMBLE, *DRAWN),
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
    ensemble: int | None = None,
    test_samples: int = 10_000,
    seed: int = 0,
    threads: int = 1,
    max_hours: float = SIMULATION_HOURS,
    max_memory: float | None = None,
    progress: Progress | None = None,
) -> Result:
    """Put the theory beside networks: errors, standard errors and z-scores of the same points.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha, ridge
        As in `solve`. Networks have the best ridge that the theory finds at their dimension, or the
        one that cross-validation chooses there.
    dimension, networks, trainings, loss, test_samples, seed, threads
    cross_validation, ensemble, max_hours, max_memory, progress
        As in `simulate`.
    stop_at, by
        As in `solve`.
    bulk : str or sequence of str
        Bulk of the first layer in the theory, as in `solve`; a sequence is a dimension.

    Returns
    -------
    xarray.Dataset
        For each error, such as the test error: `test_error` of the theory and `z_score_test_error`,
        mean minus theory over the standard error, over `theory`: "limit" as d -> infinity and
        "finite" at the dimension; `simulated_test_error_mean` and `simulated_test_error_stderr` of
        the networks. With `cross_validation`, `leave_one_out`, `gcv` (of the square loss) and
        `k_fold` are among the errors; they have the noise of labels. With `ensemble`, so are
        `ensemble_error` and the variances of `solve`. `status`, `reliability` and
        the like are as in `solve`. A step smaller than the giant one has no limit, and one network
        no standard error.

    Raises
    ------
    InvalidParametersError
        With everything that is wrong with the question.

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
    limits: dict[str, Any] = {"max_hours": max_hours, "max_memory": max_memory}
    is_chosen = isinstance(ridge, str)
    bulks = [bulk] if bulk is None or isinstance(bulk, str) else list(bulk)
    sizes: dict[str, Any] = {"dimension": dimension, "trainings": trainings}
    sizes |= {"test_samples": test_samples, "networks": networks, "seed": seed, "threads": threads}
    beside = {"cross_validation": FOLDS * cross_validation, "ensemble": ensemble}
    sizes |= {"beside": beside, "limits": limits}
    faults: list[Fault] = [] if bulks else [Fault("bulk", [], "at least one")]
    with collected(faults):
        if is_chosen and bulks:
            best = partial(solve, problem, alpha, ridge, loss=loss, bulk=bulks[0], by=by)
            ridge = best(dimension=dimension, **limits)["ridge"].values
        axes, given = read_simulation(problem, alpha, ridge, loss, **sizes)
    theories: dict[str, float] = {LIMIT: math.inf} if problem.is_giant_step else {}
    theories |= {FINITE: dimension}
    for x, d in product(bulks, theories.values()):
        of_networks = bulk_of_networks(problem) if x is None else x
        faults += Case(problem, loss, of_networks, d).faults(optimal=False)
    raise_all(faults + criterion_faults(problem, by, is_chosen, loss))
    of = partial(solve, problem, alpha, ridge, loss=loss, ensemble=ensemble)
    of = partial(of, cross_validation=cross_validation)
    # What it refuses besides is refused before networks are trained.
    solved = [[of(bulk=x, dimension=d, **limits) for x in bulks] for d in theories.values()]
    means = measured(problem, given, beside, threads, progress)
    means = drop_fixed(means, axes.fixed)
    if is_chosen and np.ndim(ridge):
        solved, means = [[*map(_at_chosen, several)] for several in solved], _at_chosen(means)
    remarks = [remark for several in solved for one in several for remark in _remarks(one)]
    how: dict[str, Any] = {"coords": "minimal", "compat": "override", "join": "exact"}
    theory = xr.combine_nested(solved, ["theory", "bulk"], data_vars="all", **how)
    theory = theory.assign_coords(theory=list(theories)).transpose("theory", "bulk", ...)
    if bulk is None or isinstance(bulk, str):
        theory = theory.isel(bulk=0)
    data = _scored(theory.drop_vars("dimension"), means)
    return data.assign_attrs(networks=networks, trainings=trainings, seed=np.int64(seed)), remarks


def _at_chosen(data: xr.Dataset) -> xr.Dataset:
    """Choose the ridge of each sample complexity, of as many."""
    each = xr.DataArray(range(data.sizes["alpha"]), dims="alpha")
    data = data.isel(alpha=each, ridge=each)
    if "remarks" in data.attrs:
        about = answer_remarks(data)
        data.attrs["remarks"] = "\n".join(about)
    return data


def _scored(theory: xr.Dataset, networks: xr.Dataset) -> xr.Dataset:
    """Put side by side what belongs to an error: theory, networks and z-scores."""
    errors = theory[[name for name in _COMPARED if name in theory]]
    scores = z_scores(errors, networks).transpose(*theory["test_error"].dims)
    data = xr.merge([theory, networks, scores], join="exact", compat="equals")
    ordered = [form.format(name) for name in _COMPARED for form in ("{}", *OF_NETWORKS)]
    ordered += [*DOUBTS, *OF_COVARIANCE, "status"]
    return data[[name for name in ordered if name in data]]


def _remarks(theory: xr.Dataset) -> list[str]:
    """Say of which theory the remarks are."""
    which = f"Theory of the {theory['bulk'].item()} bulk at d = {theory['dimension'].item():g}"
    return [f"{which}: {remark}" for remark in theory.attrs.get("remarks", "").splitlines()]
