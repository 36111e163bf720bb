"""Parameters of steps that may have one number for each step: docs/schedules.md."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from giantstep.validation import Interval, read_number, refusal

# Between the numbers of a text.
BETWEEN = "/"


class OnePerStep(tuple[float, ...]):
    """Numbers of the steps, in their order; as a text, `3/2/1`."""


# A float, or `OnePerStep` where steps differ: layers that take only the former refuse the latter.
PerStep: TypeAlias = Any


class Schedule(Interval):
    """A number for all steps; or one for each, in a sequence or a text such as "3/2/1"."""

    def read(self, value: Any) -> Any:
        """Return a number, or `OnePerStep` if they differ.

        Raises
        ------
        ValueError

        Examples
        --------
        >>> Schedule(0, 9).read("3/2/1"), Schedule(0, 9).read((2, 2))
        ((3.0, 2.0, 1.0), 2.0)
        """
        if not (BETWEEN in value if isinstance(value, str) else np.iterable(value)):
            return super().read(value)
        try:
            parts = map(read_number, value.split(BETWEEN)) if isinstance(value, str) else value
            numbers = OnePerStep(map(super().read, parts))
            return numbers[0] if len(set(numbers)) == 1 else numbers
        except ValueError:
            allowed = f"{self}, or one such for each step, as in 3/2/1"
            raise refusal("", value, allowed) from None


def numbers(problem: Any, name: str) -> tuple[float, ...]:
    """Return a parameter's numbers of all steps."""
    value = getattr(problem, name)
    return value if isinstance(value, tuple) else (value,) * problem.steps
