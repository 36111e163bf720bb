"""The points of a question: numbers as they are given, read as sample complexities and ridges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from giantstep.arrays import Array
from giantstep.problems.grid import Grid
from giantstep.questions.arguments import OPTIMAL
from giantstep.validation import Fault, collected

# A ridge for checks of a grid whose ridges are still to be found.
SOME_RIDGE = 1.0


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
