"""Parameters of steps that may have one number for each step: docs/schedules.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from giantstep.validation import Fault, Interval, plain_number, read_number

_BETWEEN = "/"


class OnePerStep(tuple[float, ...]):
    """Numbers of the steps, in their order; as a text, `3/2/1`."""


# A float, or `OnePerStep` where steps differ: layers that take only the former refuse the latter.
PerStep: TypeAlias = Any


class Schedule(Interval):
    """A number for all steps; or one for each, in a sequence or a text such as "3/2/1"."""

    def read(self, name: str, value: Any) -> tuple[Any, list[Fault]]:
        """Return a number, or `OnePerStep` if they differ.

        Examples
        --------
        >>> Schedule(0, 9).read("learning_rate", "3/2/1")[0], Schedule(0, 9).read("", (2, 2))[0]
        ((3.0, 2.0, 1.0), 2.0)
        """
        if not (is_schedule(value) if isinstance(value, str) else np.iterable(value)):
            return super().read(name, value)
        wrong = [Fault(name, value, f"{self}, or one such for each step, as in 3/2/1")]
        try:
            parts = map(read_number, value.split(_BETWEEN)) if isinstance(value, str) else value
            numbers = OnePerStep(plain_number(part) for part in parts)
        except ValueError:
            return value, wrong
        if len(set(numbers)) == 1:
            return super().read(name, numbers[0])
        return numbers, [] if numbers and all(x in self for x in numbers) else wrong


def is_schedule(value: Any) -> bool:
    """Tell whether a text has a number for each step.

    Examples
    --------
    >>> is_schedule("3/2/1"), is_schedule("3")
    (True, False)
    """
    return isinstance(value, str) and _BETWEEN in value


def numbers(problem: Any, name: str) -> tuple[float, ...]:
    """Return a parameter's numbers of all steps."""
    value = getattr(problem, name)
    return value if isinstance(value, tuple) else (value,) * problem.steps


def has_schedules(problem: Any, names: Sequence[str]) -> bool:
    """Tell whether any of these parameters has one number for each step."""
    return any(isinstance(getattr(problem, name), tuple) for name in names)
