"""The grid of sample complexities and ridges on which a problem is solved or simulated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from giantstep.problems.domains import ALPHA, POSITIVE_RIDGE, RIDGE
from giantstep.problems.field_checks import LATER
from giantstep.problems.losses import KNOWN_LOSSES, SQUARE
from giantstep.validation import (
    Fault,
    InvalidParametersError,
    plain_number,
)


@dataclass(frozen=True)
class Grid:
    """The sample complexities and ridges at which a problem is solved: all pairs of the two.

    Attributes
    ----------
    alpha : tuple of float
        Training samples of the readout over d, > 0.
    ridge : tuple of float
        Penalties lambda >= 0, without a factor 1/n; 0 (the ridgeless limit) only for the square
        loss.
    loss : str
        Loss that the readout minimises. A name that `losses.lookup_loss` knows.

    Raises
    ------
    InvalidParametersError
        With every value that is out of its domain, and for an empty axis.

    Examples
    --------
    >>> from giantstep.problems.grid import Grid
    >>> Grid(alpha=(0.5, 2), ridge=(0.1,))
    Grid(alpha=(0.5, 2.0), ridge=(0.1,), loss='square')
    >>> Grid(alpha=(), ridge=(0,), loss="huber:0.5")
    Traceback (most recent call last):
    giantstep.validation.InvalidParametersError: alpha = []: must be at least one number
    ridge = 0.0: must be a number from 1e-08 to 1e+08
    """

    alpha: tuple[float, ...]
    ridge: tuple[float, ...]
    loss: str = field(default=SQUARE, metadata=LATER)

    def __post_init__(self) -> None:
        faults = KNOWN_LOSSES.faults("loss", self.loss)
        ridges = RIDGE if self.loss == SQUARE else POSITIVE_RIDGE
        for name, interval in (("alpha", ALPHA), ("ridge", ridges)):
            values = tuple(plain_number(value) for value in getattr(self, name))
            object.__setattr__(self, name, values)
            faults += [Fault(name, v, str(interval)) for v in values if v not in interval]
            if not values:
                faults.append(Fault(name, [], "at least one number"))
        if faults:
            raise InvalidParametersError(faults)


def merged_axis(*axes: Iterable[float]) -> tuple[float, ...]:
    """Merge axes into one sorted axis without repetitions."""
    return tuple(sorted({float(value) for axis in axes for value in axis}))


def spaced_axis(start: float, stop: float, points: int, spacing: str = "even") -> tuple[float, ...]:
    """Space values evenly or, with `log`, geometrically; rounded to 12 digits: 0.6, not 0.6...01.

    Parameters
    ----------
    start, stop : float
        The first and the last value.
    points : int
    spacing : {"even", "log"}
    """
    space = np.geomspace if spacing == "log" else np.linspace
    return tuple(float(f"{value:.12g}") for value in space(start, stop, points))
