"""Overlaps and errors on a grid, each point with its certificate: Result 3.3, and Appendix C."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from giantstep.arrays import Array
from giantstep.problems.bulk_kind import ISOTROPIC, validate_bulk
from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE, lookup_loss
from giantstep.problems.problem import Problem, check_loss
from giantstep.theory.convex_loss import (
    ConvexEquations,
    FixedPoint,
    descend,
    newton_step_on,
    solve_convex,
)
from giantstep.theory.equivalent_features import equivalent_features
from giantstep.theory.fixed_point import ACCEPTED, Points, Resolvent, solve_resolvent
from giantstep.theory.square_loss import SquareLoss, square_loss_on

# Up to which relative change of the hats, on twice as many nodes, a point is given out; and up to
# which change of the test error, which near the interpolation threshold is so much larger.
RESOLVED, TRUSTED = 1e-8, 1e-3
# The first, for losses with corners or straight parts, where nodes converge more slowly.
RESOLVED_CONVEX = 1e-4
# A squared error this far below zero, over the label's power, is no rounding; nor is a smaller
# change of it an error.
_ROUNDING = 1e-14
# Points x nodes solved together: arrays of this size stay in the processor's cache.
_BATCH_ENTRIES = 1_500_000
# Nodes over z or omega that a node over kappa has for another loss, as a rule.
_CONVEX_NODES = 240
# Times the nodes over kappa at points that a finer rule changes.
_FINEST = 4


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
                "the equations have no finite solution that could be reached here; take a larger"
                " ridge (a smaller one for hinge), or move alpha away from beta; hinge and logistic"
                " loss have none where the spike lies along the target"
            ),
            Status.UNSTABLE: (
                "the linear equations for the overlaps are singular to rounding here;"
                " take a larger ridge"
            ),
            Status.UNRESOLVED: (
                "doubling the quadrature nodes changes the result here; take a larger ridge (a"
                " smaller one for hinge or huber), or a smaller spike strength"
            ),
        }[self]


@dataclass(frozen=True)
class Solution:
    """Theory on a grid; arrays have shape (alphas, ridges, ...), and NaN where it failed.

    Attributes
    ----------
    test_error, training_error : Array, shape (alphas, ridges)
        Equation (25), and its counterpart on the training set; squared errors for any loss.
    test_loss, training_loss : Array, shape (alphas, ridges)
        The loss that was minimised, half the error for the square loss; the test's against labels
        without noise.
    m, zeta, psi, q2, V2 : Array, shape (alphas, ridges, G)
        The overlaps, equation (17) and theory.md section 4, for each group of neurons.
    xi : Array, shape (alphas, ridges, G)
        Overlap with the change of the neurons' norms, docs/trained-bulk.md; zero for an isotropic
        bulk.
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
    test_loss: Array
    training_loss: Array
    m: Array
    zeta: Array
    psi: Array
    xi: Array
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
    equations = problem.coarse.equations
    at = solve_resolvent(equations, alpha, ridge)
    found = problem.coarse.order_parameters(at)
    shift, change = _quadrature_errors(problem, at, found.test_error)
    mean, split = found.mean, equations.triangle.size
    groups = found.response.of_groups(found.direction, mean.along_hat, mean.across_hat)
    return {
        "test_error": found.test_error,
        "training_error": found.training_error,
        "test_loss": found.test_error / 2,
        "training_loss": found.training_error / 2,
        "m": mean.m,
        "zeta": groups.zeta,
        "psi": groups.psi,
        "xi": groups.xi,
        "q1": groups.q1,
        "q2": found.q[:, split:],
        "V1": groups.V1 / at.scale[:, None, None],
        "V2": at.V[:, split:] / at.scale[:, None],
        "residual": np.maximum(at.residual, found.residual),
        "quadrature_error": np.maximum(shift, change),
        "iterations": at.iterations.astype(float),
        "converged": at.converged.astype(float),
        "resolved": ((shift <= RESOLVED) & (change <= TRUSTED)).astype(float),
    }


def _quadrature_errors(problem: Solver, at: Resolvent, test_error: Array) -> tuple[Array, Array]:
    """Solve all but the hats again on twice as many nodes; give changes of hats and test error.

    Both relative. The second has means and variances of its own, so that it shows what a small
    change of the expectations does to the result. What rounding makes of the label's power does
    not count.
    """
    fine, equations = problem.fine.features, problem.fine.equations
    points = Points.of(at.alpha, at.ridge, equations.beta)
    V, T = equations.respond(at.V_hat, points)
    V_hat, contraction = equations.hats(V, points)
    shift: Array = np.max(np.abs(V_hat - at.V_hat), axis=-1) / np.max(np.abs(V_hat), axis=-1)
    slopes = equations.slopes(contraction, points)
    again = replace(at, V=V, T=T, V_hat=V_hat, contraction=contraction, H=slopes)
    gap = np.abs(problem.fine.order_parameters(again).test_error - test_error)
    power = _ROUNDING * float(fine.weight @ (fine.h**2 + fine.h_z**2 + fine.target_residual))
    return shift, np.where(gap < power, 0.0, gap / np.maximum(np.abs(test_error), power))


def _solve_convex_points(problem: Solver, alpha: Array, ridge: Array) -> dict[str, Array]:
    """Solve S points for a loss other than the square loss; every entry has shape (S, ...).

    Corners that a small variance of the predictions hardly rounds take a finer rule over kappa.
    """
    coarse, fine = problem.convex
    found = solve_convex(coarse, alpha, ridge)
    values = _convex_values(coarse, fine, found, alpha, ridge)
    blurred = np.flatnonzero(found.converged & ~(values["resolved"] > 0))
    for i in blurred:
        one = slice(i, i + 1)
        again = descend(problem.finest_convex[0], found.x[one], alpha[one], ridge[one])
        if again.converged:
            sharp = _convex_values(*problem.finest_convex, again, alpha[one], ridge[one])
            for name, value in sharp.items():
                values[name][one] = value
    return values


def _convex_values(
    rule: ConvexEquations, finer: ConvexEquations, found: FixedPoint, alpha: Array, ridge: Array
) -> dict[str, Array]:
    """Give all that follows from a solution on a rule, with its change on a finer one."""
    at, local = rule.order_parameters(found.x), rule.prediction_moments(found.x)
    losses = [values @ rule.weight for values in rule.channel.losses(local)]
    test_error = rule.test_error(found.x)
    shift, moved = newton_step_on(rule, finer, found, alpha, ridge)
    change = np.abs(finer.test_error(moved) / test_error - 1)
    groups, split = rule.overlaps(found.x, alpha, ridge), rule.equations.triangle.size
    return {
        "test_error": test_error,
        "training_error": losses[0],
        "test_loss": losses[2],
        "training_loss": losses[1],
        "m": at.prediction[:, : rule.rank] @ rule.to_m.T,
        "zeta": groups.zeta,
        "psi": groups.psi,
        "xi": groups.xi,
        "q1": groups.q1,
        "q2": at.q[:, split:],
        "V1": groups.V1,
        "V2": at.V[:, split:],
        "residual": found.residual,
        "quadrature_error": np.maximum(shift, change),
        "iterations": found.iterations.astype(float),
        "converged": found.converged.astype(float),
        "resolved": ((shift <= RESOLVED_CONVEX) & (change <= TRUSTED)).astype(float),
    }


def solve(problem: Problem, grid: Grid, bulk: str = ISOTROPIC) -> Solution:
    """Solve Result 3.3, or Appendix C for another loss, on the whole grid at once.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
        A protocol is solved through its equivalent sRF (Result 3.1).
    grid : Grid
        Sample complexities and ridges, and the loss.
    bulk : str
        One of `bulk.BULKS`: "isotropic", as in the paper; "trained", with the covariance that the
        first batch leaves; "trained_norms", with the norms that it leaves, too.

    Returns
    -------
    Solution
        Arrays of shape (alphas, ridges, ...). Points that failed hold NaN, and say so in `status`.

    Raises
    ------
    InvalidParametersError
        For another bulk, or a trained one of features that no step has trained; or for a loss that
        the labels do not allow.
    """
    alpha, ridge = np.meshgrid(np.asarray(grid.alpha), np.asarray(grid.ridge), indexing="ij")
    return cached_solver(problem, bulk, grid.loss).solve(alpha, ridge)


class Solver:
    """The theory of one problem, ready to be asked for many points.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    bulk : str
        As in `solve`.
    loss : str
        As in `Grid`.
    """

    def __init__(self, problem: Problem, bulk: str = ISOTROPIC, loss: str = SQUARE) -> None:
        check_loss(problem, loss)
        self.srf, self.loss = equivalent_features(problem), loss
        self._problem, self._bulk = problem, validate_bulk(problem, bulk)
        self.coarse = square_loss_on(problem, self.srf, self._bulk)
        self.fine = square_loss_on(
            problem, self.srf, self._bulk, fineness=2, B=self.coarse.features.B
        )
        rules = (self.coarse, self.fine)
        self.floats_per_point = max(
            max(square_loss.features.kappa.size, square_loss.equations.bulk.floats_per_point)
            for square_loss in rules
        )
        if loss != SQUARE:
            self.floats_per_point *= _CONVEX_NODES

    @cached_property
    def convex(self) -> tuple[ConvexEquations, ConvexEquations]:
        """The equations for another loss, on both rules."""
        return self._convex_on(self.coarse, 1), self._convex_on(self.fine, 2)

    @cached_property
    def finest_convex(self) -> tuple[ConvexEquations, ConvexEquations]:
        """The same, with more nodes over kappa."""
        coarse, fine = (
            square_loss_on(self._problem, self.srf, self._bulk, fineness, self.coarse.features.B)
            for fineness in (_FINEST, 2 * _FINEST)
        )
        return self._convex_on(coarse, 1), self._convex_on(fine, 2)

    def _convex_on(self, square_loss: SquareLoss, fineness: int) -> ConvexEquations:
        return ConvexEquations(
            square_loss, lookup_loss(self.loss), self.coarse.label_residual.to_m, fineness
        )

    def solve(self, alpha: Array, ridge: Array) -> Solution:
        """Solve at the points (alpha, ridge), arrays of one shape: alpha > 0, ridge >= 0.

        For the square loss alone a ridge may be zero.
        """
        flat_alpha, flat_ridge = alpha.ravel(), ridge.ravel()
        batch = max(1, _BATCH_ENTRIES // self.floats_per_point)
        solve_points = _solve_points if self.loss == SQUARE else _solve_convex_points
        with np.errstate(all="ignore"):  # what is not finite is marked as failed below
            parts = [
                solve_points(self, flat_alpha[i : i + batch], flat_ridge[i : i + batch])
                for i in range(0, alpha.size, batch)
            ]
        flat = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return _collect(flat, alpha.shape)


# A problem is often asked about again, point by point.
cached_solver = lru_cache(maxsize=16)(Solver)


def _collect(flat: dict[str, Array], shape: tuple[int, ...]) -> Solution:
    """Shape the points into the grid, and blank out those that failed."""
    stable = np.isfinite(flat["test_error"]) & (flat["residual"] <= ACCEPTED)
    for name in ("test_error", "training_error"):  # squares: below zero all digits are lost
        stable &= flat[name] >= -1e-9
        flat[name] = np.maximum(flat[name], 0.0)
    status = np.where(stable, Status.CONVERGED, Status.UNSTABLE)
    blurred = stable & ~(flat.pop("resolved") > 0)
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
