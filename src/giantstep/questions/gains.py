"""What a step gains, over other predictors and over no step, for points of a sweep."""

from __future__ import annotations

from dataclasses import replace

from giantstep.arrays import Array
from giantstep.problems.bulk_kind import BULKS
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.questions.case import Case
from giantstep.theory.bounds import best_linear_error


def gain(case: Case, name: str, error: Array, alpha: Array, ridge: Array | None) -> Array:
    """Compute one of the gains that `sweep` describes, from the test errors at points.

    Without a ridge, the others have their own best ones.
    """
    problem = case.problem
    if name == "gain_over_linear":
        return 1 - error / best_linear_error(problem.target, problem.inputs)
    if name == "gain_over_no_step":
        return 1 - error / case._replace(problem=without_step(problem)).errors(alpha, ridge)
    isotropic, trained = (case._replace(bulk=bulk).errors(alpha, ridge) for bulk in BULKS)
    return isotropic / trained - 1


def without_step(problem: Problem) -> Problem:
    """Return the same network without a step, or the same features without a spike."""
    if isinstance(problem, Protocol):
        return replace(problem, alpha0=0.0, learning_rate=1.0)  # which one does not matter
    return replace(problem, spike_strength=0.0, bulk_variance=1.0, further_spikes=())
