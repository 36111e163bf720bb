"""The test error at the optimal ridge and learning rate, and how far these optima hold."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize.elementwise import find_minimum

from giantstep.arrays import Array
from giantstep.numerics.minimisation import minimise_from_candidates
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.grid import Grid
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.theory.solution import Solution
from giantstep.theory.solve import Solver, solve

# Candidates for the best ridge and the best learning rate, near which the search refines.
RIDGES = np.geomspace(1e-8, 1e8, 65)
LEARNING_RATES = np.geomspace(1e-2, 1e2, 41)
# Where the theory of finite dimension is compared with its limit, four to a decade.
_DIMENSIONS = np.geomspace(1e10, 10, 37)
# The relative difference of test errors up to which the limit is a good approximation.
NEAR_LIMIT = 0.05


@dataclass(frozen=True)
class OptimalRidge:
    """The ridge of the least test error, at each of A sample complexities.

    Attributes
    ----------
    ridge : Array, shape (A,)
    solution : Solution
        At these points, with arrays of shape (A, ...).
    on_edge : array of bool, shape (A,)
        Whether the best ridge is an end of the range that is searched: the error may be smaller
        beyond.
    """

    ridge: Array
    solution: Solution
    on_edge: NDArray[np.bool_]


@dataclass(frozen=True)
class OptimalLearningRate:
    """The learning rate of the least test error, at one sample complexity.

    Attributes
    ----------
    learning_rate, ridge, test_error : float
    on_edge, ridge_on_edge : bool
        Whether the rate, or the ridge if that was optimised, is an end of the range that is
        searched.
    """

    learning_rate: float
    ridge: float
    test_error: float
    on_edge: bool
    ridge_on_edge: bool


def optimal_ridge(
    problem: Problem, alpha: Array, bulk: str = ISOTROPIC, dimension: float = math.inf
) -> OptimalRidge:
    """Minimise the test error over the ridge, at each sample complexity.

    The search refines around the best of `RIDGES`. Where no point could be solved, the status of
    the solution says why.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha : Array, shape (A,)
    bulk, dimension
        As in `solve.solve`. Optima of the limit of infinite dimension may be far from those of
        networks; `dimension_of_limit` says how far.

    Examples
    --------
    >>> import numpy as np
    >>> from giantstep import Protocol
    >>> problem = Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1)
    >>> best = optimal_ridge(problem, np.array([1.0, 3.0]))
    >>> best.ridge.round(3), best.solution.test_error.round(4)
    (array([0.298, 0.145]), array([0.0396, 0.0324]))
    """
    solver = Solver(problem, bulk, dimension=dimension)
    alpha = np.asarray(alpha, dtype=float)
    errors = solver.solve(*np.broadcast_arrays(alpha[:, None], RIDGES)).test_error
    errors = np.nan_to_num(errors, nan=np.inf)
    best = np.argmin(errors, axis=1)
    logs, solved = np.log(RIDGES), np.isfinite(errors.min(axis=1))
    inner = (best > 0) & (best < RIDGES.size - 1) & solved
    log_ridge = logs[best]
    if inner.any():
        middle = best[inner]
        refined = find_minimum(
            lambda x, a: solver.solve(a, np.exp(x)).test_error,
            (logs[middle - 1], logs[middle], logs[middle + 1]),
            args=(alpha[inner],),
        )
        log_ridge[inner] = np.where(refined.success, refined.x, log_ridge[inner])
    ridge = np.exp(log_ridge)
    return OptimalRidge(ridge, solver.solve(alpha, ridge), solved & ~inner)


def optimal_learning_rate(
    protocol: Protocol,
    alpha: float,
    ridge: float | None,
    bulk: str = ISOTROPIC,
    dimension: float = math.inf,
) -> OptimalLearningRate:
    """Minimise the test error over the learning rate, at one sample complexity.

    The search refines around the best of `LEARNING_RATES`.

    Parameters
    ----------
    protocol : Protocol
        Its learning rate is ignored.
    alpha : float
    ridge : float or None
        None stands for the best ridge at each learning rate.
    bulk, dimension
        As in `optimal_ridge`.

    Examples
    --------
    >>> from giantstep import Protocol
    >>> protocol = Protocol("erf", "relu", 1, alpha0=2, beta=1)
    >>> optimal_learning_rate(protocol, 1.5, ridge=0.1).on_edge
    True
    >>> best = optimal_learning_rate(protocol, 1.5, ridge=0.1, dimension=500)
    >>> best.on_edge, round(best.learning_rate, 1)
    (False, 1.8)
    """

    def at(log_rate: float) -> tuple[float, float, bool]:
        rated = replace(protocol, learning_rate=float(np.exp(log_rate)))
        if ridge is None:
            best = optimal_ridge(rated, np.array([alpha]), bulk, dimension)
            return best.solution.test_error.item(), best.ridge.item(), best.on_edge.item()
        solution = solve(rated, Grid((alpha,), (ridge,)), bulk, dimension)
        return solution.test_error.item(), ridge, False

    def error(log_rate: float) -> float:
        return float(np.nan_to_num(at(log_rate)[0], nan=np.inf))

    candidates = np.log(LEARNING_RATES)
    log_rate, least = minimise_from_candidates(error, candidates, tolerance=1e-5)
    _, best_ridge, ridge_on_edge = at(log_rate)
    # The refinement next to an end stops short of it by less than this.
    on_edge = bool(min(log_rate - candidates[0], candidates[-1] - log_rate) < 1e-3)
    rate = float(np.exp(log_rate))
    return OptimalLearningRate(rate, best_ridge, least, on_edge, ridge_on_edge)


def dimension_of_limit(
    problem: Problem, alpha: Array, ridge: Array, bulk: str = ISOTROPIC
) -> Array:
    """Estimate the dimension from which on the limit d -> infinity is near the finite theory.

    Near means that the test errors differ by less than `NEAR_LIMIT`, relatively. Dimensions are
    tried four to a decade, from 1e10 down to 10.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha, ridge : Array, shape (A,)
        The points.
    bulk : str

    Returns
    -------
    Array, shape (A,)
        Infinity where even 1e10 is not enough, or where a theory has no solution.

    Examples
    --------
    >>> import numpy as np
    >>> from giantstep import Protocol
    >>> problem = Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1)
    >>> dimension_of_limit(problem, np.array([1.0]), np.array([0.3])) < 1000
    array([ True])
    """
    limit = Solver(problem, bulk).solve(alpha, ridge).test_error
    smallest = np.full(limit.shape, np.inf)
    near = np.ones(limit.shape, dtype=bool)
    for dimension in _DIMENSIONS:
        error = Solver(problem, bulk, dimension=float(dimension)).solve(alpha, ridge).test_error
        near &= np.abs(error / limit - 1) < NEAR_LIMIT
        if not near.any():
            break
        smallest[near] = dimension
    return smallest
