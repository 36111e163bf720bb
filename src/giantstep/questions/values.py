"""Values of parameters as they are given: one or several, in lists, arrays and the like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from giantstep.problems.domains import Several
from giantstep.validation import Fault, Interval, read_value

# A ridge for checks of a grid whose ridges are still to be found.
SOME_RIDGE = 1.0
# One value of a vocabulary is a sequence of pairs, and of these others one of numbers.
_DEPTHS = {"readout": 2, "covariance": 1}


def as_lists(value: Any) -> Any:
    """Convert arrays, ranges and the like to lists, and numbers of NumPy to those of Python."""
    if isinstance(value, str | Mapping) or callable(value):
        return value
    if hasattr(value, "__array__"):  # of numpy, xarray or pandas
        return np.asarray(value).tolist()
    return [as_lists(entry) for entry in value] if hasattr(value, "__iter__") else value


def is_several(name: str, value: Any) -> bool:
    """Tell many values from one."""
    depth, entry = 0, value
    while isinstance(entry, list):
        depth, entry = depth + 1, entry[0] if entry else None
    one = 0 if isinstance(entry, str) else _DEPTHS.get(name, 0)
    return depth > one or value == []


def read_numbers(name: str, value: Any, of: Interval, faults: list[Fault]) -> tuple[float, ...]:
    """Read one number or several, each in an interval, and collect what is wrong with them."""
    numbers = read_value(name, as_lists(value), Several(of), faults)
    return numbers if isinstance(numbers, tuple) else ()
