"""What a question asks for, read and checked: whatever is wrong with it is raised together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from giantstep.arrays import Array
from giantstep.numerics.own_functions import check_unchanged
from giantstep.numerics.scalar_functions import BINARY
from giantstep.problems.bulk_kind import bulk_of_networks, validate_bulk
from giantstep.problems.covariance_scope import question_faults
from giantstep.problems.domains import THEORY_DIMENSION
from giantstep.problems.grid import Grid
from giantstep.problems.losses import FLOW, SQUARE
from giantstep.problems.problem import Problem, check_loss, further_directions
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import SEED
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.questions.choices import THREADS
from giantstep.theory.first_layer.equivalent_features import equivalent_features
from giantstep.theory.optima import CRITERIA, CROSS_VALIDATION, GCV, LEAVE_ONE_OUT, TEST_ERROR
from giantstep.validation import COUNT, Fault, collected, interval_faults, raise_all, refusal

OPTIMAL: Literal["optimal"] = "optimal"
# Of simulations.
COUNTS = {"networks": COUNT, "seed": SEED, "threads": THREADS}
# A ridge for checks of a grid whose ridges are still to be found.
SOME_RIDGE = 1.0


def choose_ridge(given: dict[str, Any]) -> None:
    """Read the name of a way to cross-validate, in place of a ridge, as the best ridge by it."""
    ridge = given.get("ridge")
    word = ridge[0] if isinstance(ridge, list) and len(ridge) == 1 else ridge
    if isinstance(word, str) and word in CROSS_VALIDATION:
        given |= {"ridge": OPTIMAL, "by": word}
        if isinstance(ridge, list):  # on the command line
            given |= {"ridge": [OPTIMAL], "by": [word]}


class Axes(NamedTuple):
    """The points of a question.

    Attributes
    ----------
    grid : Grid
        All pairs of these sample complexities and ridges, with the loss.
    fixed : tuple of str
        Which of them were given as one number instead of an array.
    optimal : bool
        Whether the ridge is to be the best at each sample complexity; that of the grid means
        nothing then.
    """

    grid: Grid
    fixed: tuple[str, ...]
    optimal: bool

    @property
    def dims(self) -> tuple[str, ...]:
        """The dimensions of the points; best ridges have that of alpha."""
        return ("alpha",) if self.optimal else ("alpha", "ridge")


def plain(value: Any) -> Any:
    """Convert a number of numpy to one of Python, and return everything else unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def read_numbers(name: str, value: ArrayLike, faults: list[Fault]) -> Array:
    """Read one number, shape (), or several, shape (M,)."""
    allowed = "a number, or a sequence of numbers"
    try:
        given = np.asarray(value)
        numbers = given.astype(float)
    except (TypeError, ValueError, OverflowError):
        faults.append(Fault(name, value, allowed))
        return np.empty(())
    if numbers.ndim > 1 or (given.dtype.kind not in "iuf" and given.size):
        faults.append(Fault(name, value, allowed))
    return numbers


def read_axes(alpha: ArrayLike, ridge: ArrayLike, loss: str, faults: list[Fault]) -> Axes:
    """Read sample complexities and ridges; one of each, if something is wrong with them."""
    before = len(faults)
    axes = Axes(Grid((1.0,), (SOME_RIDGE,)), ("alpha", "ridge"), optimal=False)
    optimal = isinstance(ridge, str) and ridge == OPTIMAL
    values = {
        "alpha": read_numbers("alpha", alpha, faults),
        "ridge": read_numbers("ridge", SOME_RIDGE if optimal else ridge, faults),
    }
    if len(faults) == before:
        points = {name: tuple(numbers.ravel().tolist()) for name, numbers in values.items()}
        fixed = tuple(name for name, numbers in values.items() if numbers.ndim == 0)
        with collected(faults):
            axes = Axes(Grid(**points, loss=loss), fixed, optimal)
    return axes


def check_problem(problem: Any, question: str, given: Mapping[str, Any]) -> None:
    """Refuse at once what is no problem, or none of this question: nothing else can be checked.

    Raises
    ------
    InvalidParametersError
    """
    if not isinstance(problem, Protocol | SpikedFeatures):
        raise refusal("problem", problem, "a Protocol or SpikedFeatures")
    check_unchanged(vars(problem).values())
    raise_all(question_faults(question, problem, given))


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
    if further_directions(problem):
        faults.append(Fault("by", by, f"{TEST_ERROR} for spikes of several directions"))
    return faults


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
