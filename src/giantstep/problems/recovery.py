"""What the first layer sees of a multi-index teacher: the problem.

A network `f(x) = sum_i omega_i sigma(w_i.x)/p` starts with rows on the unit sphere, in pairs of
the same row with omega = 1 and -1, so that it is zero; it takes steps on batches of
`n0 = alpha0 d^exponent` samples of a noiseless teacher. What is asked is how much of its rows, and
of their change, lies along each direction of the teacher (docs/what-one-step-sees.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from giantstep.numerics.scalar_functions import known_names, lookup
from giantstep.problems.sizes import DIMENSION, LARGEST
from giantstep.problems.teachers import ALLOWED, lookup_teacher
from giantstep.validation import (
    COUNT,
    NON_NEGATIVE,
    POSITIVE,
    Fault,
    Interval,
    InvalidParametersError,
    interval_faults,
    plain_number,
)

# Orders of n0 in d that anybody can pay for.
_EXPONENT = Interval(0, 4)


@dataclass(frozen=True)
class Recovery:
    """Steps of a network on batches of a multi-index teacher.

    Attributes
    ----------
    activation : str
        A continuous one, of any parity.
    teacher : str
        As `teachers.lookup_teacher` reads it.
    learning_rate : float
        eta >= 0: a row changes by `eta d^((exponent - 1)/2)` times the mean of
        `omega (y - f(x)) sigma'(w.x) x` over the batch, which keeps the change of order one.
    alpha0, exponent : float
        The batch has `n0 = alpha0 d^exponent` samples.
    width : int
        p, even.
    steps : int
    reuse_batch : bool
        Whether later steps take the batch of the first, instead of a fresh one each.

    Raises
    ------
    InvalidParametersError
        With every value that is out of its domain.
    """

    activation: str
    teacher: str
    learning_rate: float
    alpha0: float
    exponent: float = 1.0
    width: int = 128
    steps: int = 1
    reuse_batch: bool = False

    def __post_init__(self) -> None:
        intervals = {
            "learning_rate": NON_NEGATIVE,
            "alpha0": POSITIVE,
            "exponent": _EXPONENT,
            "width": COUNT,
            "steps": COUNT,
        }
        for name in ("learning_rate", "alpha0", "exponent"):
            object.__setattr__(self, name, plain_number(getattr(self, name)))
        faults = self._function_faults() + interval_faults(vars(self), intervals)
        if self.width in COUNT and (self.width % 2 or self.width > LARGEST):
            faults.append(
                Fault("width", self.width, f"even, since rows pair, and at most {LARGEST}")
            )
        if not isinstance(self.reuse_batch, bool):
            faults.append(Fault("reuse_batch", self.reuse_batch, "true or false"))
        if faults:
            raise InvalidParametersError(faults)

    def _function_faults(self) -> list[Fault]:
        faults = []
        try:
            if not lookup(str(self.activation)).continuous:
                faults.append(Fault("activation", self.activation, "continuous"))
        except KeyError:
            faults.append(Fault("activation", self.activation, f"one of {known_names()}"))
        try:
            lookup_teacher(str(self.teacher))
        except KeyError:
            faults.append(Fault("teacher", self.teacher, ALLOWED))
        return faults

    def batch(self, dimension: int) -> int:
        """Give n0, LARGEST + 1 at most."""
        return round(min(self.alpha0 * math.pow(dimension, self.exponent), LARGEST + 1))

    def rate(self, dimension: int) -> float:
        """Give the factor of a row's gradient."""
        return self.learning_rate * math.pow(dimension, (self.exponent - 1) / 2)


def check_dimension(problem: Recovery, dimension: int) -> None:
    """Refuse a dimension at which a batch is empty or out of reach, or that is not of inputs.

    Raises
    ------
    InvalidParametersError
    """
    least = 2 * lookup_teacher(problem.teacher).directions
    if dimension not in DIMENSION or dimension < least:
        allowed = f"a whole number of at least {least}, twice the teacher's directions"
        raise InvalidParametersError([Fault("dimension", dimension, allowed)])
    if not 1 <= problem.batch(dimension) <= LARGEST:
        allowed = f"such that alpha0 * dimension^exponent (at {dimension}) is from 1 to {LARGEST}"
        raise InvalidParametersError([Fault("alpha0", problem.alpha0, allowed)])
