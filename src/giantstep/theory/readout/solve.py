"""Overlaps and errors on a grid: Result 3.3, and Appendix C for other losses."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np

from giantstep.arrays import Array, Mask
from giantstep.numerics.stopping_filter import PAIRS
from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED, validate_bulk
from giantstep.problems.domains import THEORY_DIMENSION
from giantstep.problems.grid import Grid
from giantstep.problems.losses import FLOW, SQUARE, is_square, lookup_loss
from giantstep.problems.problem import Problem, check_loss, check_theory_of_loss
from giantstep.problems.protocol import Protocol
from giantstep.problems.readout import FINER_NORMAL, NORMAL
from giantstep.theory.features.equivalent_features import equivalent_features
from giantstep.theory.features.kappa_rules import check_resolution
from giantstep.theory.readout.convex_equations import ConvexEquations
from giantstep.theory.readout.convex_loss import convex_values, solve_convex, solve_from
from giantstep.theory.readout.early_stopping import solve_stopped
from giantstep.theory.readout.fixed_point import Points, Resolvent, solve_resolvent
from giantstep.theory.readout.solution import ERROR_RESOLVED, Solution, collect_points
from giantstep.theory.readout.square_loss import (
    SquareLoss,
    changes_on_finer_rule,
    prepare_square_loss,
)
from giantstep.theory.reliability import Fluctuation, Reliability
from giantstep.validation import interval_faults, raise_all

# A point is resolved if doubling the number of nodes changes the hats and the test error by less
# than these and `ERROR_RESOLVED`, relatively. Near the interpolation threshold the error is far
# more sensitive. What a trained bulk averages over a batch has labels without bound, for which
# rules converge slowly, and rules over the directions of several spikes are coarser.
_HATS_RESOLVED = {ISOTROPIC: 1e-8, TRAINED: 1e-5}
# A change of the test error with twice as many values in the place of a normal readout.
_LETTERS_RESOLVED = 5e-3
# Both for several steps on one batch, whose rules over samples are coarse from the third on.
_REUSED_RESOLVED = 1e-2
# Floats of an array over the points solved together, so that it stays in the processor's cache.
_BATCH_FLOATS = 1_500_000
# How many more arrays of that size other losses need.
_CONVEX_ARRAYS = 16
# Factor on the nodes over kappa at points that the finer rule leaves unresolved.
_FINEST = 4


def solve(
    problem: Problem, grid: Grid, bulk: str = ISOTROPIC, dimension: float = math.inf
) -> Solution:
    """Compute overlaps and errors on a grid: Result 3.3, or Appendix C for other losses.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
        A protocol is solved through its equivalent sRF (Result 3.1).
    grid : Grid
        Sample complexities, ridges and the loss.
    bulk : str
        One of `bulk_kind.BULKS`: "isotropic", as in the paper; "trained", with all that
        gradient steps do to the rows' covariance and to their norms.
    dimension : float
        Dimension d of the inputs, >= 2, where the means m of the readout cost something: theory.md
        section 12. By default the limit d -> infinity. A step smaller than the giant one needs it.

    Returns
    -------
    Solution
        Arrays of shape (alphas, ridges, ...). Points that failed hold NaN; `status` says why.

    Raises
    ------
    InvalidParametersError
        For an unknown bulk, a trained bulk of features given directly, a dimension below 2, or a
        loss that the labels do not allow.

    Examples
    --------
    >>> from giantstep import Protocol
    >>> from giantstep.problems.grid import Grid
    >>> problem = Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1)
    >>> solution = solve(problem, Grid(alpha=(0.9, 3.0), ridge=(0.1,)))
    >>> solution.test_error.round(6)
    array([[0.042504],
           [0.032518]])
    >>> solution.m.shape  # one group of neurons
    (2, 1, 1)
    >>> solve(problem, Grid(alpha=(0.9, 3.0), ridge=(0.1,)), dimension=200).test_error.round(3)
    array([[0.043],
           [0.033]])
    """
    alpha, ridge = np.meshgrid(np.asarray(grid.alpha), np.asarray(grid.ridge), indexing="ij")
    return cached_solver(problem, bulk, grid.loss, dimension).solve(alpha, ridge)


class Solver:
    """The theory of one problem, prepared once and then solved at any points.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    bulk : str
        As in `solve`.
    loss : str
        As in `Grid`.
    dimension : float
        As in `solve`.
    B : Array, optional
        As in `conditional_features`.

    Examples
    --------
    >>> import numpy as np
    >>> from giantstep import Protocol
    >>> solver = Solver(Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1))
    >>> solver.solve(alpha=np.array([0.9, 3.0]), ridge=np.array([0.1, 0.1])).test_error.round(6)
    array([0.042504, 0.032518])
    """

    def __init__(
        self,
        problem: Problem,
        bulk: str = ISOTROPIC,
        loss: str = SQUARE,
        dimension: float = math.inf,
        B: Array | None = None,
    ) -> None:
        check_loss(problem, loss)
        check_theory_of_loss(problem, loss)
        raise_all(interval_faults({"dimension": dimension}, {"dimension": THEORY_DIMENSION}))
        self.srf, self.loss = equivalent_features(problem, dimension), loss
        check_resolution(problem, self.srf)
        if isinstance(problem, Protocol):
            problem = problem.with_giant_step(dimension)
        self.problem, self.bulk = problem, validate_bulk(problem, bulk)
        self.dimension = dimension
        self.reuses_samples = isinstance(problem, Protocol) and problem.reuses_samples
        self.coarse = prepare_square_loss(problem, self.srf, self.bulk, dimension, B=B)
        stopped = _solve_stopped if loss == FLOW else _solve_convex_loss
        self._solve_points = _solve_square_loss if loss == SQUARE else stopped

    @cached_property
    def fine(self) -> SquareLoss:
        """The equations on twice as many nodes."""
        return self._on_finer_rule(2)

    @cached_property
    def convex(self) -> tuple[ConvexEquations, ConvexEquations]:
        """The equations for a loss other than the square loss, on both rules."""
        return self._convex_on(self.coarse, 1), self._convex_on(self.fine, 2)

    @cached_property
    def finest_convex(self) -> tuple[ConvexEquations, ConvexEquations]:
        """The same, with more nodes over kappa, for points that are unresolved."""
        rules = self._on_finer_rule(_FINEST), self._on_finer_rule(2 * _FINEST)
        return self._convex_on(rules[0], 1), self._convex_on(rules[1], 2)

    @cached_property
    def reliability(self) -> Reliability:
        """What the theory leaves out."""
        f = self.coarse.features
        rule = f if is_square(self.loss) else self.convex[0]
        return Reliability(self.problem, self.srf, f, rule, self.dimension)

    def corrected(
        self, values: dict[str, Array], ridge: Array, fluctuation: Fluctuation, variance: Array
    ) -> dict[str, Array]:
        """Add what `Reliability.at` returns, also to the error that leaves one out, and chaoses."""
        test_error, reliability = values["test_error"], self.reliability
        left_out = reliability.at(fluctuation, test_error, variance, values["m"])
        values["leave_one_out"] = values["leave_one_out"] + left_out["test_error"] - test_error
        if chaoses := reliability.leading_chaoses:
            alpha, _, slopes, _ = fluctuation
            points = Points.of(alpha, ridge, self.srf.beta)
            left_out |= chaoses.at(alpha, points.ridge, slopes)
        return values | left_out

    def _change_by_finer_letters(self, alpha: Array, ridge: Array) -> Array:
        """Compute how twice as many values in the place of a normal readout change the test error.

        At infinite dimension, which is faster.
        """
        assert isinstance(self.problem, Protocol)
        finer = Solver(replace(self.problem, readout=FINER_NORMAL), self.bulk, self.loss)
        given = self if math.isinf(self.dimension) else Solver(self.problem, self.bulk, self.loss)
        with np.errstate(all="ignore"):
            coarse, fine = (self._solve_points(one, alpha, ridge) for one in (given, finer))
            return np.abs(fine["test_error"] / coarse["test_error"] - 1)

    def _on_finer_rule(self, fineness: int) -> SquareLoss:
        """Prepare the same unknowns, over the same functions B, on a finer rule."""
        problem, srf = self.problem, self.srf
        if isinstance(problem, Protocol) and not problem.as_in_paper:  # found by quadrature
            srf = equivalent_features(problem, self.dimension, fineness)
        B = self.coarse.features.B
        return prepare_square_loss(problem, srf, self.bulk, self.dimension, fineness, B)

    def is_resolved(self, shift: Array, change: Array) -> Mask:
        """Tell where errors of quadrature, of hats and of the test error, are small enough."""
        bulk = TRAINED if self.srf.further_spikes else self.bulk
        small = (shift <= _HATS_RESOLVED[bulk]) & (change <= ERROR_RESOLVED)
        return small | (self.reuses_samples & (np.maximum(shift, change) <= _REUSED_RESOLVED))

    def _convex_on(self, rule: SquareLoss, fineness: int) -> ConvexEquations:
        to_m = self.coarse.label_residual.to_m
        return ConvexEquations(rule, lookup_loss(self.loss), to_m, fineness)

    def batches(self, points: int) -> list[slice]:
        """Divide points into those that are solved together."""
        rule, arrays = self.coarse, 1 if self.loss == SQUARE else _CONVEX_ARRAYS
        arrays = PAIRS if self.loss == FLOW else arrays
        largest = max(rule.features.kappa.size, rule.equations.bulk.floats_per_point)
        batch = max(1, _BATCH_FLOATS // (2 * arrays * largest))  # on the finer rule
        return [slice(start, start + batch) for start in range(0, points, batch)]

    def solve(self, alpha: Array, ridge: Array) -> Solution:
        """Solve at the points (alpha, ridge).

        Parameters
        ----------
        alpha, ridge : Array, of one shape
            alpha > 0 and ridge >= 0; only for the square loss may the ridge be zero.

        Returns
        -------
        Solution
            Arrays of that shape, followed by the dimensions of the groups of neurons.
        """
        flat_alpha, flat_ridge = alpha.ravel(), ridge.ravel()
        with np.errstate(all="ignore"):  # points that are not finite are marked as failed
            parts = [
                self._solve_points(self, flat_alpha[part], flat_ridge[part])
                for part in self.batches(alpha.size)
            ]
        flat = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        if getattr(self.problem, "readout", None) == NORMAL:
            change = self._change_by_finer_letters(flat_alpha, flat_ridge)
            flat["quadrature_error"] = np.fmax(flat["quadrature_error"], change)
            flat["resolved"] *= ~(change > _LETTERS_RESOLVED)
        return collect_points(flat, alpha.shape)


# glibc gives freed memory back to the system if it is larger than the largest block ever freed, of
# at most 32 MiB. To get it again, page by page, takes longer than to compute on it.
np.empty(32_000_000, dtype=np.uint8)
# Callers often solve one problem point by point.
cached_solver = lru_cache(maxsize=16)(Solver)


def _solve_square_loss(solver: Solver, alpha: Array, ridge: Array) -> dict[str, Array]:
    """Solve S points; every entry has shape (S, ...)."""
    rule = solver.coarse
    at = solve_resolvent(rule.equations, alpha, ridge)
    solution = rule.order_parameters(at)
    errors = solution.errors
    groups, split = rule.of_groups(solution), rule.equations.triangle.size
    residuals = errors.power.sum(axis=-1)
    values = {
        "test_error": errors.test_error,
        "training_error": at.scale**2 * residuals,
        "leave_one_out": errors.fresh,
        "gcv": residuals / (at.contraction @ rule.weight) ** 2,
        **groups._asdict(),
        "m": solution.mean.m,
        "q2": errors.q[:, split:],
        "V1": groups.V1 / at.scale[:, None, None],
        "V2": at.V[:, split:] / at.scale[:, None],
        "residual": np.maximum(at.residual, errors.residual),
        "iterations": at.iterations.astype(float),
        "converged": at.converged.astype(float),
        **_quadrature(solver, at, errors.test_error),
    }
    return _of_squares(solver, at, values, errors.power, errors.q)


def _solve_stopped(solver: Solver, alpha: Array, ridge: Array) -> dict[str, Array]:
    """Solve S points of gradient flow for the times 1/ridge; every entry has shape (S, ...).

    Errors of quadrature are those of these ridges. What the test error changes by with a coarser
    fit of the filter is far more than the error of the fit.
    """
    solution = solve_stopped(solver.coarse, alpha, 1 / ridge)
    at, values = solution.at, solution.values
    of_filter = np.abs(solution.coarse_error / values["test_error"] - 1)
    one_ridge = solver.coarse.order_parameters(at).errors.test_error
    values |= _quadrature(solver, at, one_ridge, of_filter)
    return _of_squares(solver, at, values, solution.power, solution.q)


def _of_squares(
    solver: Solver, at: Resolvent, values: dict[str, Array], power: Array, q: Array
) -> dict[str, Array]:
    """Add corrections, and losses."""
    equations = solver.coarse.equations
    variance = q @ (equations.multiplicity * equations.expectations)
    V2 = at.V[:, equations.triangle.size :]
    of = at.alpha, V2, at.contraction, power
    values = solver.corrected(values, at.ridge, of, variance)
    return values | {f"{name}_loss": values[f"{name}_error"] / 2 for name in ("test", "training")}


def _quadrature(
    solver: Solver, at: Resolvent, test_error: Array, of_filter: Array | float = 0.0
) -> dict[str, Array]:
    """Say how hats and test error change on twice as many nodes, and whether that is little."""
    shift, change = changes_on_finer_rule(solver.fine, at, test_error)
    change = np.maximum(change, of_filter)
    resolved = solver.is_resolved(shift, change).astype(float)
    return {"quadrature_error": np.maximum(shift, change), "resolved": resolved}


def _solve_convex_loss(solver: Solver, alpha: Array, ridge: Array) -> dict[str, Array]:
    """Solve S points for a loss other than the square loss; every entry has shape (S, ...).

    Where predictions vary little given kappa, corners of the loss need a finer rule over kappa:
    points that are unresolved are solved again on one.
    """
    coarse, fine = solver.convex
    solution = solve_convex(coarse, alpha, ridge)
    values = convex_values(coarse, fine, solution, alpha, ridge)
    if solver.reuses_samples:
        values["resolved"] = (values["quadrature_error"] <= _REUSED_RESOLVED).astype(float)
    for one in np.flatnonzero(solution.converged() & ~(values["resolved"] > 0))[:, None]:
        finest, check = solver.finest_convex
        at = alpha[one], ridge[one]
        again = solve_from(finest, solution.at.x[one], *at)
        if again.converged():
            for name, value in convex_values(finest, check, again, *at).items():
                values[name][one] = value
    averages = solution.at.details
    fluctuation = alpha, values["V2"], averages.minus_dg, averages.g_squared * coarse.weight
    variance = coarse.prediction_moments(solution.at.x).Q @ coarse.weight
    return solver.corrected(values, ridge, fluctuation, variance)
