"""What a step gains, over other predictors and over no step, for points of a sweep."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from giantstep.arrays import Array
from giantstep.problems.bulk_kind import BULKS
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.theory.bounds import best_linear_error

if TYPE_CHECKING:
    from giantstep.questions.case import Case


def gain(case: Case, name: str, alpha: Array, ridge: Array | None, error: Array) -> Array:
    """Compute one of the gains that `sweep` describes.

    Parameters
    ----------
    case : Case
    name : str
    alpha, ridge : Array, shape (P,)
        None for the best ridges.
    error : Array, shape (P,)
        The test errors of the case.
    """
    problem = case.problem
    if name == "gain_over_linear":
        return 1 - error / best_linear_error(problem.target, problem.inputs)
    if name == "gain_over_no_step":
        return 1 - error / _errors(case, alpha, ridge, problem=without_step(problem))
    isotropic, trained = (_errors(case, alpha, ridge, bulk=bulk) for bulk in BULKS)
    return isotropic / trained - 1


def _errors(case: Case, alpha: Array, ridge: Array | None, **changes: Any) -> Array:
    """Compute the test errors of a changed case."""
    case = case._replace(**changes)
    solved = case.best(alpha).solution if ridge is None else case.readout.solve(alpha, ridge)
    return solved.test_error


def without_step(problem: Problem) -> Problem:
    """Return the same network without a step, or the same features without a spike."""
    if isinstance(problem, Protocol):
        return replace(problem, alpha0=0.0, learning_rate=1.0)  # which one does not matter
    return replace(problem, spike_strength=0.0, bulk_variance=1.0, further_spikes=())
