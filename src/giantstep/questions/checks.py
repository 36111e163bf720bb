"""Checks of questions whose faults are told with all others."""

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


def input_faults(question: str, problem: Any, given: Mapping[str, Any]) -> list[Fault]:
    """List why a question cannot be answered for inputs with a covariance, or a mixture.

    Of several problems, they are among what is given.
    """
    inputs = np.ravel(given.get("inputs", getattr(problem, "inputs", GAUSSIAN))).tolist()
    mixtures = [one for one in inputs if mixture_mean(str(one)) is not None]
    known = given.get("covariance", getattr(problem, "covariance", IDENTITY))
    name, plain = "covariance", IDENTITY
    if mixtures:
        name, plain, known = "inputs", GAUSSIAN, mixtures[0]
    if isinstance(known, str) and known == IDENTITY:
        return []
    if not hasattr(problem, "covariance"):
        allowed = f"{plain} for spiked features given directly; mixtures are for protocols"
        return [Fault(name, known, allowed)]
    allowed = f"{plain} in {question}: {_STRUCTURED_INPUTS}"
    return [Fault(name, known, allowed)] * (name not in stated(question).inputs)


def criterion_faults(
    problem: Problem, by: str, optimised: bool = True, loss: str = SQUARE
) -> list[Fault]:
    """List what is wrong with the error that an optimum minimises, if there is an optimum."""
    known = [TEST_ERROR]
    if problem.target in BINARY and not problem.further_directions:
        known.append(CLASSIFICATION_ERROR)
    if loss != FLOW:
        known += [one for one in CROSS_VALIDATION if one != GCV or loss == SQUARE]
    if by not in known:
        return [Fault("by", by, f"one of {', '.join(known)} for this target and loss")]
    chosen = optimised or by == TEST_ERROR
    return [] if chosen else [Fault("by", by, f"given with ridge {OPTIMAL}")]
