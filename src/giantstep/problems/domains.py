"""The numbers that parameters may be.

They are wider than any problem that people pose, and narrow enough that no product of parameters in
theory or simulation overflows: sums of squares stay below 1e60. What a size costs, and what a
quadrature rule cannot resolve, is refused elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from giantstep.validation import Fault, Interval, raise_all, read_value


@dataclass(frozen=True)
class Several:
    """One number or several, which are stored as a tuple."""

    each: Any
    least: int = 1

    def __str__(self) -> str:
        return f"one or more, each {self.each}"

    def read(self, value: Any) -> tuple[Any, ...]:
        """Return the numbers.

        Raises
        ------
        InvalidParametersError
            With each that lies outside.
        """
        several = np.iterable(value) and not isinstance(value, str)
        faults: list[Fault] = []
        read = [read_value("", x, self.each, faults) for x in (value if several else (value,))]
        few = len(read) < self.least
        raise_all([Fault("", read, "at least one number")] if few else faults)
        return tuple(read)


def interval_of(domain: Any) -> Interval | None:
    """Return what each number of a domain may be; None for a domain of something else."""
    domain = domain.each if isinstance(domain, Several) else domain
    return domain if isinstance(domain, Interval) else None


class _Flag:
    def __str__(self) -> str:
        return "true or false"

    def read(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise ValueError(f"{value} must be {self}")
        return value


FLAG = _Flag()

# Whatever is repeated: the costs of so many are finite, and beyond every limit.
COUNTED = Interval(1, 10**15, whole=True)
# Gradient steps. The theory follows them one by one.
STEPS = Interval(1, 1000, whole=True)
LEARNING_RATE = Interval(0, 1e12)
# Of the dimension, in the step size; the largest is the giant step.
STEP_EXPONENT = Interval(0, 0.5)
ALPHA0 = Interval(0, 1e15, infinity=True)
ALPHA = Interval(1e-12, 1e12)
BETA = Interval(1e-9, 1e9)
# Of the inputs, for the theory; simulations need whole numbers.
THEORY_DIMENSION = Interval(2, 1e12, infinity=True)
# Penalties; losses other than the square have no ridgeless limit, and need a ridge of 1e-8 or more.
RIDGE = Interval(0, 1e15)
POSITIVE_RIDGE = Interval(1e-8, 1e8)
# Of label noise; its square root is the size of labels.
VARIANCE = Interval(0, 1e12)
BULK_VARIANCE = Interval(1e-12, 1e12)
# Of two directions of unit length.
OVERLAP = Interval(-1, 1)
SPIKE_STRENGTH = Interval(-1e12, 1e12)
# Values of a vocabulary: initial readouts and biases.
LETTER = Interval(-1e6, 1e6)
# Where Huber's loss turns from a parabola into straight lines.
HUBER_TURN = Interval(1e-9, 1e12)
