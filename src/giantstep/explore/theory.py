"""What the explorer asks of the theory: all such calls are here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from giantstep.arrays import Array, Indices
from giantstep.explore.question import OPTIMAL, Question
from giantstep.explore.symbols import OVERLAPS
from giantstep.theory.bounds import best_linear_error, bounds
from giantstep.theory.learned_function import learned_function
from giantstep.theory.optima import optimal_ridge
from giantstep.theory.readout.solution import Solution
from giantstep.theory.readout.solve import cached_solver
from giantstep.theory.readout.status import Status
from giantstep.theory.spectrum import Spectrum, spectrum
from giantstep.validation import InvalidParametersError

_ARRAYS = ("test_error", "training_error", "ridge", "residual", "quadrature_error")


@dataclass(frozen=True)
class Points:
    """The theory at S points.

    Attributes
    ----------
    test_error, training_error : Array, shape (S,)
    ridge : Array, shape (S,)
        That of each point, which may be the best.
    residual, quadrature_error : Array, shape (S,)
    overlaps : dict of Array, shape (S, ...)
    advice : list of str
        For each point that failed, what to do about it; empty for others.
    """

    test_error: Array
    training_error: Array
    ridge: Array
    residual: Array
    quadrature_error: Array
    overlaps: dict[str, Array]
    advice: list[str]


def solve_along(question: Question, bulk: str, name: str, values: Array) -> list[Points]:
    """Solve where one parameter has some values: all at once if that is alpha or the ridge."""
    if name == "ridge":
        return [_at_ridges(question, bulk, values)]
    if name == "alpha":
        return [_at(question, bulk, values)]
    return [_at_value(question, bulk, name, float(value)) for value in values]


def _at_value(question: Question, bulk: str, name: str, value: float) -> Points:
    """Solve at one value of a parameter; values that the library refuses are points that failed."""
    try:
        moved = moved_to(question, name, value)
        return _at(moved, bulk, np.array([moved.alpha]))
    except InvalidParametersError as error:
        return refused(str(error))


def moved_to(question: Question, name: str, value: float) -> Question:
    """Return the question at another value of a parameter."""
    moved: Any = int(value) if name == "steps" else float(value)
    return replace(question, **{name: moved})


def _at(question: Question, bulk: str, alpha: Array) -> Points:
    """Solve at some sample complexities, at the question's ridge or the best."""
    if question.ridge == OPTIMAL:
        best = optimal_ridge(question.problem, alpha, bulk, question.dimension, question.loss)
        return _points(best.ridge, best.solution)
    return _solve(question, bulk, alpha, np.full(alpha.shape, question.ridge))


def _at_ridges(question: Question, bulk: str, ridge: Array) -> Points:
    return _solve(question, bulk, np.full(ridge.shape, question.alpha), ridge)


def _solve(question: Question, bulk: str, alpha: Array, ridge: Array) -> Points:
    solver = cached_solver(question.problem, bulk, question.loss, question.dimension)
    return _points(ridge, solver.solve(alpha, ridge))


def _points(ridge: Array, solution: Solution) -> Points:
    return Points(
        solution.test_error,
        solution.training_error,
        ridge,
        solution.residual,
        solution.quadrature_error,
        {name: getattr(solution, name) for name in OVERLAPS},
        [_advice(Status(int(code))) for code in solution.status],
    )


def _advice(status: Status) -> str:
    return "" if status is Status.CONVERGED else status.advice


def refused(message: str) -> Points:
    """Return one point that has no theory, with the reason."""
    nan = np.full(1, np.nan)
    overlaps = dict.fromkeys(OVERLAPS, nan[:, None])
    return Points(nan, nan, nan, nan, nan, overlaps, [message])


def join(parts: list[Points]) -> Points:
    """Put points after each other; of their overlaps, those of all groups that any has."""
    return Points(
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS},
        overlaps={name: _joined([part.overlaps[name] for part in parts]) for name in OVERLAPS},
        advice=[text for part in parts for text in part.advice],
    )


def take(points: Points, order: Indices) -> Points:
    """Arrange points in another order."""
    return Points(
        **{name: getattr(points, name)[order] for name in _ARRAYS},
        overlaps={name: values[order] for name, values in points.overlaps.items()},
        advice=[points.advice[i] for i in order],
    )


def _joined(arrays: list[Array]) -> Array:
    """Concatenate arrays of shape (S, ...); that of a point that was refused has one group."""
    shape = max((array.shape[1:] for array in arrays), key=np.prod)
    full = [
        array if array.shape[1:] == shape else np.full((len(array), *shape), np.nan)
        for array in arrays
    ]
    return np.concatenate(full)


def limits(question: Question) -> dict[str, float]:
    """Return the test error of the best linear predictor, and bounds at the best ridge."""
    found = bounds(question.problem)
    return {
        "best_linear": best_linear_error(question.target),
        "upper_bound": found.upper,
        "lower_bound": found.lower,
    }


def learned(question: Question, bulk: str, s: Array) -> tuple[Array, Points]:
    """Compute the mean output of the trained network at `theta . x = s`."""
    alpha = np.array([question.alpha])
    points = _at(question, bulk, alpha)
    solver = cached_solver(question.problem, bulk, question.loss, question.dimension)
    found = solver.solve(alpha, points.ridge)
    return learned_function(solver.srf, found.m, found.zeta, found.psi, s, found.xi)[0], points


def eigenvalues(question: Question, bulk: str, points: int) -> Spectrum:
    """Compute the spectrum of the features' covariance."""
    return spectrum(
        question.problem, question.alpha, points, bulk=bulk, dimension=question.dimension
    )
