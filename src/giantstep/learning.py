"""Result 3.3 for the square loss: overlaps and errors, by the linear algebra of section 4."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from giantstep.activations import Array
from giantstep.features import conditional_features
from giantstep.means import Misfit, solve_means
from giantstep.protocol import Grid, Problem
from giantstep.resolvent import ACCEPTED, Equations, Points, Resolvent, solve_resolvent
from giantstep.srf import equivalent_features
from giantstep.variances import solve_small

# Relative quadrature error up to which a point is given out.
_RESOLVED = 1e-6
# A squared error this far below zero is no rounding.
_LOST = 1e-9
# Stands for zero where a relative residual is taken.
_TINY = 1e-300
# Points x nodes solved together: arrays of this size stay in the processor's cache.
_BATCH_ENTRIES = 1_000_000


class Status(IntEnum):
    """What may be done with a point of a solution."""

    CONVERGED = 0
    NOT_CONVERGED = 1
    UNSTABLE = 2
    UNRESOLVED = 3

    @property
    def label(self) -> str:
        """The status as tables show it."""
        return self.name.lower()

    @property
    def advice(self) -> str:
        """What the user can do."""
        return {
            Status.CONVERGED: "every equation holds to rounding",
            Status.NOT_CONVERGED: (
                "the equations for V1, V2 have no finite solution that could be reached here;"
                " take a larger ridge, or move alpha away from beta"
            ),
            Status.UNSTABLE: (
                "the linear equations for the overlaps are singular to rounding here;"
                " take a larger ridge"
            ),
            Status.UNRESOLVED: (
                "doubling the quadrature nodes changes the result here; take a larger ridge,"
                " or a smaller spike strength"
            ),
        }[self]


@dataclass(frozen=True)
class Solution:
    """Theory on a grid; arrays have shape (alphas, ridges, ...), and NaN where it failed.

    Attributes
    ----------
    test_error, training_error : Array, shape (alphas, ridges)
        Equation (25), and its counterpart on the training set.
    m, zeta, psi, q2, V2 : Array, shape (alphas, ridges, G)
        The overlaps, equation (17) and theory.md section 4, for each group of neurons.
    q1, V1 : Array, shape (alphas, ridges, G, G)
        Likewise, for each pair of groups.
    residual : Array, shape (alphas, ridges)
        Largest relative residual of all the equations.
    quadrature_error : Array, shape (alphas, ridges)
        Relative change of the hats and of the test error when the nodes are doubled.
    iterations, status : integer arrays, shape (alphas, ridges)
        Newton steps, and a `Status` per point.
    """

    test_error: Array
    training_error: Array
    m: Array
    zeta: Array
    psi: Array
    q1: Array
    q2: Array
    V1: Array
    V2: Array
    residual: Array
    quadrature_error: Array
    iterations: NDArray[np.int64]
    status: NDArray[np.int64]


def _solve_points(problem: Solver, alpha: Array, ridge: Array) -> dict[str, Array]:
    """Solve S points; every entry has shape (S, ...)."""
    f, srf, equations = problem.features, problem.srf, problem.equations
    at = solve_resolvent(equations, alpha, ridge)
    mean = solve_means(f, srf, at)
    triangle, beta = equations.triangle, srf.beta
    # Variances: (q1, q2) = T (q_hat + sources), where q_hat = b + H (q1, q2).
    misfit = problem.misfit.coefficients(mean)
    squared = at.contraction**2
    unfitted = misfit @ problem.functions
    unfitted *= squared
    ratio = (alpha / beta)[:, None]
    b = ratio * (unfitted @ equations.coefficients.T)
    spread = triangle.pack(mean.psi_hat[:, :, None] * mean.psi_hat[:, None, :])
    sources = beta * np.concatenate([spread, srf.groups.c * mean.zeta_hat**2], axis=-1)
    right = np.einsum("sij,sj->si", at.T, b + sources)
    matrix = np.eye(right.shape[-1]) - at.T @ at.H
    q = solve_small(matrix, right)
    gap = np.abs(np.einsum("sij,sj->si", matrix, q) - right)
    size = np.einsum("sij,sj->si", np.abs(matrix), np.abs(q)) + np.abs(right)
    # E v, on the nodes and on twice as many; and E v/(1 + V)^2.
    both = np.concatenate([misfit, q * equations.multiplicity], axis=-1)
    test_error, fine_error = (both @ problem.expectations - srf.noise).T
    fitted = np.einsum("sk,sk->s", q * equations.multiplicity, squared @ equations.weighted)
    V, split = at.V / at.scale[:, None], triangle.size
    return {
        "test_error": test_error,
        "training_error": at.scale**2 * (unfitted.sum(axis=-1) + fitted),
        "m": mean.m,
        "zeta": mean.zeta,
        "psi": mean.psi,
        "q1": triangle.unpack(q[:, :split]),
        "q2": q[:, split:],
        "V1": triangle.unpack(V[:, :split]),
        "V2": V[:, split:],
        "residual": np.maximum.reduce(
            [at.residual, mean.residual, np.max(gap / np.maximum(size, _TINY), axis=-1)]
        ),
        "quadrature_error": np.maximum(
            np.abs(fine_error / test_error - 1), _hats_error(problem.fine_equations, at)
        ),
        "iterations": at.iterations.astype(float),
        "converged": at.converged.astype(float),
    }


def _hats_error(fine: Equations, at: Resolvent) -> Array:
    """Compute the hats again on twice as many nodes; give the relative change."""
    V_hat, _ = fine.hats(at.V, Points(at.alpha / fine.beta, at.scale, at.scale))
    error: Array = np.max(np.abs(V_hat - at.V_hat), axis=-1) / np.max(np.abs(V_hat), axis=-1)
    return error


def solve(problem: Problem, grid: Grid) -> Solution:
    """Solve Result 3.3 on the whole grid at once.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
        A protocol is solved through its equivalent sRF (Result 3.1).
    grid : Grid
        Sample complexities and ridges.

    Returns
    -------
    Solution
        Arrays of shape (alphas, ridges, ...). Points that failed hold NaN, and say so in `status`.
    """
    alpha, ridge = np.meshgrid(np.asarray(grid.alpha), np.asarray(grid.ridge), indexing="ij")
    return solver_of(problem).points(alpha, ridge)


class Solver:
    """The theory of one problem, ready to be asked for many points.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    """

    def __init__(self, problem: Problem) -> None:
        self.srf = equivalent_features(problem)
        self.features = conditional_features(self.srf)
        self.fine = conditional_features(self.srf, fineness=2)
        self.equations = Equations(self.features, self.srf)
        self.fine_equations = Equations(self.fine, self.srf)
        self.misfit = Misfit(self.features)
        self.functions = self.features.fold(self.misfit.functions(self.features))
        # Of the misfit's functions and of the variances' coefficients, on both rules.
        pairs = ((self.features, self.equations), (self.fine, self.fine_equations))
        self.expectations = np.stack([
            np.concatenate([self.misfit.functions(f) @ f.weight, equations.weighted.sum(axis=0)])
            for f, equations in pairs
        ], axis=-1)  # fmt: skip

    def points(self, alpha: Array, ridge: Array) -> Solution:
        """Solve at the points (alpha, ridge), arrays of one shape: alpha > 0, ridge >= 0."""
        flat_alpha, flat_ridge = alpha.ravel(), ridge.ravel()
        batch = max(1, _BATCH_ENTRIES // self.fine.kappa.size)
        with np.errstate(all="ignore"):  # what is not finite is marked as failed below
            parts = [
                _solve_points(self, flat_alpha[i : i + batch], flat_ridge[i : i + batch])
                for i in range(0, alpha.size, batch)
            ]
        flat = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return _collect(flat, alpha.shape)


# A problem is often asked about again, point by point.
solver_of = lru_cache(maxsize=16)(Solver)


def _collect(flat: dict[str, Array], shape: tuple[int, ...]) -> Solution:
    """Shape the points into the grid, and blank out those that failed."""
    stable = np.isfinite(flat["test_error"]) & (flat["residual"] <= ACCEPTED)
    for name in ("test_error", "training_error"):  # squares: below zero all digits are lost
        stable &= flat[name] >= -_LOST
    status = np.where(stable, Status.CONVERGED, Status.UNSTABLE)
    blurred = stable & ~(flat["quadrature_error"] <= _RESOLVED)
    status = np.where(blurred, Status.UNRESOLVED, status)
    status = np.where(flat.pop("converged") > 0, status, Status.NOT_CONVERGED)
    failed = status != Status.CONVERGED
    kept = {name: flat.pop(name) for name in ("residual", "quadrature_error", "iterations")}
    for value in flat.values():
        value[failed] = np.nan
    values = {name: value.reshape(shape + value.shape[1:]) for name, value in flat.items()}
    return Solution(
        **values,
        residual=kept["residual"].reshape(shape),
        quadrature_error=kept["quadrature_error"].reshape(shape),
        iterations=kept["iterations"].astype(np.int64).reshape(shape),
        status=status.astype(np.int64).reshape(shape),
    )
