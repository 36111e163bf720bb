"""What a question asks for, read and checked: whatever is wrong with it is raised together."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from giantstep.numerics.own_functions import check_unchanged
from giantstep.numerics.scalar_functions import BINARY
from giantstep.problems.bulk_kind import bulk_of_networks, validate_bulk
from giantstep.problems.covariance import IDENTITY
from giantstep.problems.domains import THEORY_DIMENSION
from giantstep.problems.inputs import GAUSSIAN, mixture_mean
from giantstep.problems.losses import FLOW, SQUARE
from giantstep.problems.problem import Problem, check_loss
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import SEED
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.questions.arguments import OPTIMAL
from giantstep.questions.axes import Axes, read_axes
from giantstep.questions.choices import THREADS
from giantstep.questions.declaration import STRUCTURED, Question
from giantstep.questions.task import NETWORK_TASKS, Task, question_named
from giantstep.theory.first_layer.equivalent_features import equivalent_features
from giantstep.theory.optima import CRITERIA, CROSS_VALIDATION, GCV, LEAVE_ONE_OUT, TEST_ERROR
from giantstep.validation import COUNT, Fault, collected, interval_faults, raise_all, refusal

_STRUCTURED_INPUTS = "docs/structured-inputs.md says which questions take others"
# Of simulations.
COUNTS = {"networks": COUNT, "seed": SEED, "threads": THREADS}


def check_problem(problem: Any, of: Question, given: Mapping[str, Any]) -> None:
    """Refuse at once what is no problem, or none of this question: nothing else can be checked.

    Raises
    ------
    InvalidParametersError
    """
    if not isinstance(problem, Protocol | SpikedFeatures):
        raise refusal("problem", problem, "a Protocol or SpikedFeatures")
    check_unchanged(vars(problem).values())
    raise_all(_input_faults(of.command, of.inputs, problem, given))


def task_faults(task: Task) -> list[Fault]:
    """List why a task does not cover the inputs of its problem."""
    declared = getattr(question_named(task.question), "declaration", None)
    covered = declared.inputs if declared else STRUCTURED * (task.question in NETWORK_TASKS)
    return _input_faults(task.question, covered, task.problem, task.arguments)


def _input_faults(
    question: str, covered: Collection[str], problem: Any, given: Mapping[str, Any]
) -> list[Fault]:
    """List why a question cannot be answered for inputs with a covariance, or a mixture.

    It takes into account what is `covered` of "covariance" and "inputs"; of several problems, the
    arguments have `values`.
    """
    values = given.get("values", {})
    inputs = np.ravel(values.get("inputs", getattr(problem, "inputs", GAUSSIAN))).tolist()
    mixtures = [one for one in inputs if mixture_mean(str(one)) is not None]
    known = values.get("covariance", getattr(problem, "covariance", IDENTITY))
    name, plain = "covariance", IDENTITY
    if mixtures:
        name, plain, known = "inputs", GAUSSIAN, mixtures[0]
    if isinstance(known, str) and known == IDENTITY:
        return []
    if not hasattr(problem, "covariance"):
        allowed = f"{plain} for spiked features given directly; mixtures are for protocols"
        return [Fault(name, known, allowed)]
    allowed = f"{plain} in {question}: {_STRUCTURED_INPUTS}"
    return [Fault(name, known, allowed)] * (name not in covered)


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


def derivative_faults(derivatives: bool, loss: str, optimal: bool, by: str) -> list[Fault]:
    """Refuse derivatives where they are not known, or where those at fixed ridge are not all."""
    allowed = f"false but for the {SQUARE} loss, and best ridges by the {TEST_ERROR}"
    wrong = loss != SQUARE or (optimal and by != TEST_ERROR)
    return [Fault("derivatives", True, allowed)] if derivatives and wrong else []


def check_theory(
    problem: Problem,
    faults: list[Fault],
    bulk: str | None,
    dimension: float = math.inf,
    loss: str = SQUARE,
) -> str:
    """Collect why the theory does not cover a problem; return the bulk, by default of networks."""
    bulk = bulk_of_networks(problem) if bulk is None else bulk
    wrong = interval_faults({"dimension": dimension}, {"dimension": THEORY_DIMENSION})
    faults += wrong
    with collected(faults):
        validate_bulk(problem, bulk if isinstance(bulk, str) else repr(bulk))
    with collected(faults):
        check_loss(problem, loss)
    if not wrong:
        with collected(faults):
            equivalent_features(problem, dimension)
    return bulk


def read_question(
    problem: Problem,
    alpha: ArrayLike,
    ridge: ArrayLike,
    loss: str,
    bulk: str | None,
    dimension: float,
    faults: list[Fault],
) -> tuple[Axes, str]:
    """Read points and bulk of a question to the theory, and collect what is wrong with it."""
    axes = read_axes(alpha, ridge, loss, faults)
    return axes, check_theory(problem, faults, bulk, dimension, axes.grid.loss)
