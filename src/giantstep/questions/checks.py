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
from giantstep.theory.optima import CRITERIA, CROSS_VALIDATION, GCV, LEAVE_ONE_OUT, TEST_ERROR
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
    if by not in CRITERIA:
        return [Fault("by", by, f"one of {', '.join(CRITERIA)}")]
    if by == TEST_ERROR:
        return []
    faults = [] if optimised else [Fault("by", by, f"given with ridge {OPTIMAL}")]
    if by in CROSS_VALIDATION:
        if loss == FLOW:
            faults.append(Fault("by", by, f"{TEST_ERROR} for readouts that are stopped"))
        elif by == GCV and loss != SQUARE:
            faults.append(Fault("by", by, f"{LEAVE_ONE_OUT} for losses other than {SQUARE}"))
        return faults
    if problem.target not in BINARY:
        allowed = f"{TEST_ERROR} for targets other than {' and '.join(BINARY)}"
        faults.append(Fault("by", by, allowed))
    if problem.further_directions:
        faults.append(Fault("by", by, f"{TEST_ERROR} for spikes of several directions"))
    return faults
