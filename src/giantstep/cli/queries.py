"""Answers to the questions of the command line, as tables.

Each function asks theory or simulation one question, and returns columns and remarks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.cli.tables import Table, group_columns
from giantstep.numerics.scalar_functions import SIGN
from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED_NORMS
from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS, Overlaps
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import EXACT, Sizes
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.simulation.replicate_statistics import summarise
from giantstep.simulation.simulate import simulate
from giantstep.theory.bounds import (
    best_linear_error,
    bounds,
    bounds_at_best_learning_rate,
    lower_bound_with_bias,
)
from giantstep.theory.classification_error import classification_error
from giantstep.theory.equivalent_features import equivalent_features
from giantstep.theory.optima import (
    NEAR_LIMIT,
    dimension_of_limit,
    optimal_learning_rate,
    optimal_ridge,
    search_of,
)
from giantstep.theory.solution import Solution
from giantstep.theory.solve import Solver
from giantstep.theory.spectrum import spectrum
from giantstep.theory.status import Status

_ERRORS, _LOSSES = ("test_error", "training_error"), ("test_loss", "training_loss")
# The largest of networks that are usually simulated: where the limit holds for these, it is near.
_LARGE_DIMENSION = 1000
_ACCURACY = ("residual", "quadrature_error", "iterations")


class Answer(NamedTuple):
    """A table, and remarks on it."""

    table: Table
    remarks: tuple[str, ...] = ()


def theory(
    problem: Problem,
    grid: Grid,
    bulk: str = ISOTROPIC,
    certificate: bool = False,
    dimension: float = math.inf,
) -> Answer:
    """Return the theory's errors and overlaps, a row for each point of the grid.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    grid : Grid
    bulk : str
        One of `BULKS`.
    certificate : bool
        Whether to add columns on the accuracy of each point.
    dimension : float
        As in `solve`.
    """
    alpha, ridge = _mesh(grid)
    solution = Solver(problem, bulk, grid.loss, dimension).solve(alpha, ridge)
    srf = equivalent_features(problem, dimension)
    return _of_solution(srf, alpha, ridge, solution, _names(grid.loss), bulk, certificate)


def theory_at_optimal_ridge(
    problem: Problem,
    alpha: Array,
    bulk: str = ISOTROPIC,
    certificate: bool = False,
    dimension: float = math.inf,
    loss: str = SQUARE,
) -> Answer:
    """Return the same as `theory` at the ridge with the least test error for each alpha."""
    best = optimal_ridge(problem, alpha, bulk, dimension, loss)
    srf = equivalent_features(problem, dimension)
    points = alpha, best.ridge, best.solution
    table, remarks = _of_solution(srf, *points, _names(loss), bulk, certificate)
    at_edge = [f"alpha {a:g}" for a in alpha[best.on_edge]]
    remarks += _edge_remark(at_edge, "best ridge", search_of(loss, dimension).ridges)
    if math.isinf(dimension):
        needed = dimension_of_limit(problem, alpha, best.ridge, bulk, loss)
        remarks += _limit_remark(float(needed.max()))
    return Answer(table, remarks)


def optimal_learning_rates(
    protocol: Protocol,
    alphas: Sequence[float],
    ridges: Sequence[float | None],
    bulk: str = ISOTROPIC,
    dimension: float = math.inf,
    loss: str = SQUARE,
) -> Answer:
    """Return the learning rate with the least test error, a row for each alpha and ridge.

    Parameters
    ----------
    protocol : Protocol
        Its learning rate is ignored.
    alphas : sequence of float
    ridges : sequence of float or None
        None stands for the best ridge at each learning rate.
    bulk, dimension
        As in `theory`.
    loss : str
        As in `Grid`.
    """
    rows, needed = [], 0.0
    rates_at_edge, ridges_at_edge = [], []
    for alpha, ridge in product(alphas, ridges):
        best = optimal_learning_rate(protocol, alpha, ridge, bulk, dimension, loss)
        rows.append((alpha, best.ridge, best.learning_rate, best.test_error))
        point_name = f"alpha {alpha:g}, ridge {best.ridge:g}"
        rates_at_edge += [point_name] * best.on_edge
        ridges_at_edge += [point_name] * best.ridge_on_edge
        if math.isinf(dimension):
            rated = replace(protocol, learning_rate=best.learning_rate)
            point = np.array([alpha]), np.array([best.ridge])
            needed = max(needed, dimension_of_limit(rated, *point, bulk, loss).item())
    names = "alpha", "ridge", "learning_rate", "test_error"
    table = dict(zip(names, np.array(rows).T, strict=True))
    search = search_of(loss, dimension)
    remarks = _edge_remark(rates_at_edge, "best learning rate", search.learning_rates)
    remarks += _edge_remark(ridges_at_edge, "best ridge", search.ridges)
    return Answer(table, remarks + _limit_remark(needed))


def _edge_remark(points: Sequence[str], what: str, candidates: Array) -> tuple[str, ...]:
    """Say where an optimum lies at an end of the range that was searched."""
    if not points:
        return ()
    ends = f"{candidates[0]:g} to {candidates[-1]:g}"
    where = "; ".join(points)
    return (
        f"At {where}: the {what} is an end of the range searched ({ends}), or of the part of it"
        " that could be solved, not a minimum.",
    )


def _limit_remark(dimension: float) -> tuple[str, ...]:
    """Say from which dimension on an optimum of the limit d -> infinity holds, where it is far."""
    if dimension <= _LARGE_DIMENSION:
        return ()
    since = (
        "at no dimension tried" if math.isinf(dimension) else f"only from d = {dimension:.0e} on"
    )
    return (
        "The limit d -> infinity is far here: at this optimum its test error is within"
        f" {NEAR_LIMIT:.0%} of that of a finite dimension {since}. Give --dimension for smaller"
        " networks.",
    )


def _names(loss: str) -> tuple[str, ...]:
    """Name the columns of errors; the loss is one of its own unless it is half the error."""
    return _ERRORS if loss == SQUARE else (*_ERRORS, *_LOSSES)


def _of_solution(
    srf: SpikedFeatures,
    alpha: Array,
    ridge: Array,
    solution: Solution,
    errors: tuple[str, ...],
    bulk: str,
    certificate: bool,
) -> Answer:
    names = [*errors, *OVERLAP_DIMENSIONS]
    if bulk != TRAINED_NORMS:
        names.remove("xi")
    names += _ACCURACY if certificate else ()
    table: Table = {"alpha": alpha.ravel(), "ridge": ridge.ravel()}
    for name in names:
        table |= group_columns(name, getattr(solution, name), alpha.ndim)
    if srf.target == SIGN:
        wrong = classification_error(srf, Overlaps.of(solution))
        table["classification_error"] = wrong.ravel()
    table["status"] = np.array([Status(int(code)).label for code in solution.status.ravel()])
    return Answer(table, _advice(solution))


def _advice(solution: Solution) -> tuple[str, ...]:
    """Say what to do about points that failed."""
    counts = {status: int(np.sum(solution.status == status)) for status in Status}
    return tuple(
        f"{count} point(s) {status.label}. {status.advice}"
        for status, count in counts.items()
        if count and status is not Status.CONVERGED
    )


def simulation(
    problem: Problem,
    grid: Grid,
    sizes: Sizes,
    replicates: int,
    seed: int,
    threads: int = 1,
    progress: Callable[[float], None] = lambda share: None,
) -> Answer:
    """Return means and standard errors over simulated networks, a row for each point of the grid.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    grid : Grid
    sizes : Sizes
    replicates : int
        Number of networks.
    seed : int
        Root of all random streams.
    threads : int
    progress : callable
        Called with the share of the work that is done.
    """
    raw = simulate(problem, grid, sizes, range(replicates), seed, progress, threads)
    names = [*_names(grid.loss)]
    if (
        problem.target == SIGN and sizes.test_samples != EXACT
    ):  # in closed form there is no 0-1 error
        names.append("classification_error")
    alpha, ridge = _mesh(grid)
    table: Table = {"alpha": alpha.ravel(), "ridge": ridge.ravel()}
    for name in names:
        found = summarise(getattr(raw, name))
        table |= {name: found.mean.ravel(), f"{name}_stderr": found.stderr.ravel()}
    return Answer(table)


def eigenvalue_density(
    problem: Problem,
    alpha: float,
    points: int,
    x: Array | None = None,
    bulk: str = ISOTROPIC,
    dimension: float = math.inf,
) -> Answer:
    """Return the density of the eigenvalues of the features' covariance; bulk edges as remarks."""
    found = spectrum(problem, alpha, points, x, bulk, dimension)
    which = "of order d" if math.isinf(dimension) else f"above the bulk at d = {dimension:g}"
    edges = ", ".join(f"[{low:.6g}, {high:.6g}]" for low, high in found.edges)
    large = ", ".join(f"{value:.6g} d" for value in found.outliers) or "none"
    remarks = (
        f"share of eigenvalues at zero: {found.mass_at_zero:.6g}",
        f"bulk: {edges}",
        f"eigenvalues {which}: {large}",
    )
    return Answer({"x": found.x, "density": found.density}, remarks)


def error_bounds(problem: Problem) -> Answer:
    """Return bounds on the test error at the best ridge, in one row."""
    found = bounds(problem)
    row = {
        "upper": found.upper,
        "lower": found.lower,
        "lower_with_bias": lower_bound_with_bias(problem),
        "best_linear": best_linear_error(problem.target),
    }
    if isinstance(problem, Protocol):
        upper, lower = bounds_at_best_learning_rate(problem)
        row |= {"upper_best_learning_rate": upper, "lower_best_learning_rate": lower}
    return Answer({name: np.array([value]) for name, value in row.items()})


def _mesh(grid: Grid) -> tuple[Array, Array]:
    alpha, ridge = np.meshgrid(np.asarray(grid.alpha), np.asarray(grid.ridge), indexing="ij")
    return alpha, ridge
