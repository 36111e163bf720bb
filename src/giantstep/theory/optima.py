"""The test error at the optimal ridge, and where optima are searched for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantstep.arrays import Array
from giantstep.numerics.minimisation import minimise_each_from_candidates
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.losses import SQUARE
from giantstep.problems.overlaps import Overlaps
from giantstep.problems.problem import Problem
from giantstep.theory.readout.classification_error import classification_error
from giantstep.theory.readout.columns import Columns
from giantstep.theory.readout.readout import Readout
from giantstep.theory.readout.solve import readout_of
from giantstep.theory.readout.status import Status

# What may be minimised: the squared error, equation (25); the 0-1 error of a sign target; or an
# estimate by cross-validation, which needs no test set. That of five folds is the leave-one-out
# error at 4/5 alpha.
TEST_ERROR, CLASSIFICATION_ERROR = "test_error", "classification_error"
CROSS_VALIDATION = LEAVE_ONE_OUT, GCV, K_FOLD = ("leave_one_out", "gcv", "k_fold")
CRITERIA = (TEST_ERROR, CLASSIFICATION_ERROR, *CROSS_VALIDATION)
# Parts of the samples in k-fold cross-validation.
FOLDS = 5


class SearchRange(NamedTuple):
    """Where optima are searched for, and how closely.

    Attributes
    ----------
    ridges, learning_rates : Array
        Candidates, near the best of which the search refines.
    ridge_tolerances : mapping, optional
        As in `minimise_each_from_candidates`.
    rate_tolerance : float
        Tolerance of the logarithm of the best learning rate.
    """

    ridges: Array
    learning_rates: Array
    ridge_tolerances: Mapping[str, float] | None
    rate_tolerance: float


# Candidates for the square loss.
_RIDGES, _RATES = np.geomspace(1e-8, 1e8, 65), np.geomspace(1e-2, 1e2, 41)
_SQUARE_SEARCH = SearchRange(_RIDGES, _RATES, None, 1e-5)
# Points for other losses take a thousand times as long. Their errors are accurate to 1e-6 or so,
# which fixes a minimum to 1e-3; a ridge that is one per cent off costs 1e-4 of the error.
_CONVEX_SEARCH = SearchRange(
    np.geomspace(1e-3, 1e3, 19), _RATES[::4], {"xatol": 1e-2, "frtol": 1e-6}, 1e-2
)
# Up to this dimension the range of ridges is that of the limit; beyond, it grows by at most so many
# decades.
_SMALL_DIMENSION, _MOST_DECADES = 100.0, 5


@dataclass(frozen=True)
class OptimalRidge:
    """The ridge of the least test error, at each of A sample complexities.

    Attributes
    ----------
    ridge : Array, shape (A,)
    solution : Columns
        At these points, with arrays of shape (A, ...).
    on_edge : array of bool, shape (A,)
        Whether the best ridge is an end of the range that is searched, or of the part of it that
        could be solved: the error may be smaller beyond.
    """

    ridge: Array
    solution: Columns
    on_edge: NDArray[np.bool_]


def search_of(loss: str, dimension: float = math.inf) -> SearchRange:
    """Return where optima are searched for: from fewer candidates for a loss other than the square.

    The largest of those ridges is 1e3, and grows with a finite dimension d above 100, since the
    effect of a ridge on the means m is of order ridge/d.
    """
    if loss == SQUARE:
        return _SQUARE_SEARCH
    beyond = 0.0 if math.isinf(dimension) else math.ceil(math.log10(dimension / _SMALL_DIMENSION))
    last = 3 + int(np.clip(beyond, 0, _MOST_DECADES))
    return _CONVEX_SEARCH._replace(ridges=np.logspace(-3, last, 10 + 3 * last))


def optimal_ridge(
    problem: Problem,
    alpha: Array,
    bulk: str = ISOTROPIC,
    dimension: float = math.inf,
    loss: str = SQUARE,
    ridges: Array | None = None,
    by: str = TEST_ERROR,
) -> OptimalRidge:
    """Minimise the error over the ridge, at each sample complexity.

    The test error is the squared one, equation (25), whatever the loss and the target. It depends
    on the scale of predictions, which a large ridge shrinks through the means m at a finite
    dimension only: as d -> infinity the best ridge of a hinge or logistic loss may be an end of the
    range. The 0-1 error does not depend on that scale.

    The search refines around the best of the ridges of `search_of`, and skips points that fail.
    Where no point could be solved, the status of the solution is the reason.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha : Array, shape (A,)
    bulk, dimension
        As in `solve.solve`. Optima of the limit of infinite dimension may be far from those of
        networks.
    loss : str
        As in `Grid`.
    ridges : Array, optional
        Candidates, instead of those of `search_of`.
    by : str
        The error that is minimised, one of `CRITERIA`.

    Examples
    --------
    >>> import numpy as np
    >>> from giantstep import Protocol
    >>> problem = Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1)
    >>> best = optimal_ridge(problem, np.array([1.0, 3.0]))
    >>> best.ridge.round(3), best.solution.test_error.round(4)
    (array([0.298, 0.145]), array([0.0396, 0.0324]))
    """
    readout, search = readout_of(problem, bulk, loss, dimension), search_of(loss, dimension)
    alpha, candidates = np.asarray(alpha, dtype=float), search.ridges if ridges is None else ridges
    certified, of = partial(criterion, readout, by), (candidates, search.ridge_tolerances)
    error = readout.errors if by == TEST_ERROR else certified
    ridge, on_edge = minimise_each_from_candidates(error, alpha, *of)
    solution = readout.solve(alpha, ridge)
    if (failed := solution.status != Status.CONVERGED).any():  # others nearby may be sound
        ridge[failed], on_edge[failed] = minimise_each_from_candidates(
            certified, alpha[failed], *of
        )
        solution = readout.solve(alpha, ridge)
    return OptimalRidge(ridge, solution, on_edge)


def criterion(readout: Readout, by: str, alpha: Array, ridge: Array) -> Array:
    """Compute the error that is minimised, at points (alpha, ridge)."""
    if by == K_FOLD:
        alpha, by = alpha * (1 - 1 / FOLDS), LEAVE_ONE_OUT
    solution = readout.solve(alpha, ridge)
    if by == CLASSIFICATION_ERROR:
        return classification_error(readout.square_loss.srf, Overlaps.of(solution))
    return solution[by]
