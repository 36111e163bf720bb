"""The grid of sample complexities and ridges on which a problem is solved or simulated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from giantstep.problems.domains import ALPHA, POSITIVE_RIDGE, RIDGE, Several
from giantstep.problems.losses import KNOWN_LOSSES, SQUARE
from giantstep.problems.parameter import (
    Parameter,
    means,
    read_parameters,
)
from giantstep.validation import raise_all, read_value

_ALPHA = Parameter(
    "sample complexity n/d of the readout's training set",
    r"\alpha",
    Several(ALPHA),
    "(18)",
    "sample complexity",
)
_RIDGE = Parameter("ridge penalty, without 1/n", r"\lambda", Several(RIDGE), "(4)")
_LOSS = Parameter("what the readout minimises", r"\ell", KNOWN_LOSSES, "App. C")


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

    alpha: tuple[float, ...] = field(metadata=means(_ALPHA))
    ridge: tuple[float, ...] = field(metadata=means(_RIDGE))
    loss: str = field(default=SQUARE, metadata=means(_LOSS))

    def __post_init__(self) -> None:
        faults = read_parameters(self)
        if self.loss != SQUARE:
            faults = [fault for fault in faults if fault.name != "ridge"]
            read_value("ridge", self.ridge, Several(POSITIVE_RIDGE), faults)
        raise_all(faults)


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
    return tuple(float(f"{value:.12g}") for value in space(float(start), float(stop), points))
