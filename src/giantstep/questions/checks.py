"""Checks of questions whose faults are reported together with all others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from giantstep.numerics.scalar_functions import BINARY
from giantstep.problems.covariance import IDENTITY
from giantstep.problems.inputs import GAUSSIAN, mixture_mean
from giantstep.problems.losses import FLOW, SQUARE
from giantstep.problems.problem import Problem
from giantstep.questions.arguments import OPTIMAL
from giantstep.questions.declaration import stated
from giantstep.theory.optima import CLASSIFICATION_ERROR, CROSS_VALIDATION, GCV, TEST_ERROR
from giantstep.validation import Fault

_STRUCTURED_INPUTS = "theory, sweep, simulate, compare and optimise take others"
_DIRECT = "for spiked features given directly; mixtures are for protocols"


def input_faults(question: str, problem: Any, given: Mapping[str, Any]) -> list[Fault]:
    """List inputs with a covariance, or of two classes, that a question does not take.

    If they vary, their values are in `given`.
    """
    taken = stated(question).inputs if hasattr(problem, "covariance") else ()
    inputs = np.ravel(given.get("inputs", getattr(problem, "inputs", GAUSSIAN))).tolist()
    covariance = given.get("covariance", getattr(problem, "covariance", IDENTITY))
    wrong = [("inputs", x, GAUSSIAN) for x in inputs if mixture_mean(str(x)) is not None][:1]
    wrong += [("covariance", covariance, IDENTITY)] if covariance != IDENTITY else []
    allowed = f"in {question}: {_STRUCTURED_INPUTS}" if hasattr(problem, "covariance") else _DIRECT
    return [Fault(name, x, f"{plain} {allowed}") for name, x, plain in wrong if name not in taken]


def criterion_faults(
    problem: Problem, by: str, optimised: bool = True, loss: str = SQUARE
) -> list[Fault]:
    """List faults of `by`, the error that an optimum minimises, if there is an optimum."""
    known = [TEST_ERROR]
    if problem.target in BINARY and not problem.further_directions:
        known.append(CLASSIFICATION_ERROR)
    if loss != FLOW:
        known += [one for one in CROSS_VALIDATION if one != GCV or loss == SQUARE]
    if by not in known:
        return [Fault("by", by, f"one of {', '.join(known)} for this target and loss")]
    chosen = optimised or by == TEST_ERROR
    return [] if chosen else [Fault("by", by, f"given with ridge {OPTIMAL}")]
