"""The test error at the optimal ridge, and at the optimal learning rate."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
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


def optimal_ridge(
    problem: Problem, alpha: Array, bulk: str = ISOTROPIC, dimension: float = math.inf
) -> tuple[Array, Solution]:
    """Minimise the test error over the ridge, at each sample complexity.

    The search refines around the best of `RIDGES`. Where the error still decreases at an end of
    that range, the end is returned; where no point could be solved, the status of the solution
    says why.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha : Array, shape (A,)
    bulk, dimension
        As in `solve.solve`.

    Returns
    -------
    ridge : Array, shape (A,)
    solution : Solution
        At these points, with arrays of shape (A, ...).

    Examples
    --------
    >>> import numpy as np
    >>> from giantstep import Protocol
    >>> problem = Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1)
    >>> ridge, solution = optimal_ridge(problem, np.array([1.0, 3.0]))
    >>> ridge.round(3), solution.test_error.round(4)
    (array([0.298, 0.145]), array([0.0396, 0.0324]))
    """
    solver = Solver(problem, bulk, dimension=dimension)
    alpha = np.asarray(alpha, dtype=float)
    errors = solver.solve(*np.broadcast_arrays(alpha[:, None], RIDGES)).test_error
    errors = np.nan_to_num(errors, nan=np.inf)
    best = np.argmin(errors, axis=1)
    logs = np.log(RIDGES)
    inner = (best > 0) & (best < RIDGES.size - 1) & np.isfinite(errors.min(axis=1))
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
    return ridge, solver.solve(alpha, ridge)


def optimal_learning_rate(
    protocol: Protocol,
    alpha: float,
    ridge: float,
    bulk: str = ISOTROPIC,
    dimension: float = math.inf,
) -> tuple[float, float]:
    """Minimise the test error over the learning rate, at one sample complexity and ridge.

    Returns
    -------
    learning_rate, test_error : float
    """
    grid = Grid((alpha,), (ridge,))

    def error(log_rate: float) -> float:
        rated = replace(protocol, learning_rate=float(np.exp(log_rate)))
        return float(
            np.nan_to_num(solve(rated, grid, bulk, dimension).test_error.item(), nan=np.inf)
        )

    log_rate, least = minimise_from_candidates(error, np.log(LEARNING_RATES), tolerance=1e-5)
    return float(np.exp(log_rate)), least
