"""The error at its best: optimised over the ridge, and over the learning rate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.optimize.elementwise import find_minimum

from giantstep.arrays import Array
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.grid import Grid
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.theory.solution import Solution
from giantstep.theory.solve import Solver

# Where the best ridge and the best learning rate are looked for, before they are refined.
RIDGES = np.geomspace(1e-8, 1e8, 65)
LEARNING_RATES = np.geomspace(1e-2, 1e2, 41)


def optimal_ridge(problem: Problem, alpha: Array, bulk: str = ISOTROPIC) -> tuple[Array, Solution]:
    """Minimise the test error over the ridge, at each sample complexity.

    The error is taken at all of `RIDGES` first and then refined around the best of them. Where
    the error still falls at the end of that range, the end is given; where no point has an error,
    the solution says why.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha : Array, shape (A,)
    bulk : str
        As in `learning.solve`.

    Returns
    -------
    ridge : Array, shape (A,)
    solution : Solution
        At these points, grid shape (A,).
    """
    solver = Solver(problem, bulk)
    alpha = np.asarray(alpha, dtype=float)
    coarse = solver.solve(*np.broadcast_arrays(alpha[:, None], RIDGES)).test_error
    coarse = np.nan_to_num(coarse, nan=np.inf)
    best = np.argmin(coarse, axis=1)
    logs = np.log(RIDGES)
    inner = (best > 0) & (best < RIDGES.size - 1) & np.isfinite(coarse.min(axis=1))
    found = logs[best]
    if inner.any():
        middle = best[inner]
        refined = find_minimum(
            lambda x, a: solver.solve(a, np.exp(x)).test_error,
            (logs[middle - 1], logs[middle], logs[middle + 1]),
            args=(alpha[inner],),
        )
        found[inner] = np.where(refined.success, refined.x, found[inner])
    ridge = np.exp(found)
    return ridge, solver.solve(alpha, ridge)


def optimal_learning_rate(
    protocol: Protocol, alpha: float, ridge: float, bulk: str = ISOTROPIC
) -> tuple[float, float]:
    """Minimise the test error over the learning rate at one point; give the rate and the error."""
    grid = Grid((alpha,), (ridge,))

    def error(log_rate: float) -> float:
        rated = replace(protocol, learning_rate=float(np.exp(log_rate)))
        point = np.array(grid.alpha), np.array(grid.ridge)
        found = Solver(rated, bulk).solve(*point).test_error.item()
        return float(np.nan_to_num(found, nan=np.inf))

    logs = np.log(LEARNING_RATES)
    values = np.array([error(x) for x in logs])
    best = int(np.argmin(values))
    around = logs[max(best - 1, 0)], logs[min(best + 1, logs.size - 1)]
    found = minimize_scalar(error, bounds=around, method="bounded", options={"xatol": 1e-5})
    if found.fun < values[best]:
        return float(np.exp(found.x)), float(found.fun)
    return float(LEARNING_RATES[best]), float(values[best])
