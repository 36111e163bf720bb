"""Numbers in files: arrays of `numpy.save`, or tables in CSV."""

from __future__ import annotations

from typing import Any

import numpy as np

from giantstep.validation import RefusalError

# What such files hold becomes part of a problem, and of its keys.
SUFFIXES = (".npy", ".csv")


def load_numbers(path: str) -> Any:
    """Read an array from a file; a table may have a line of names.

    Raises
    ------
    OSError
    RefusalError
        For other kinds of files.
    """
    try:
        if not path.endswith(".csv"):
            return np.load(path, allow_pickle=False)  # noqa: TID251
        numbers = np.genfromtxt(path, delimiter=",", dtype=float)
        headed = numbers.ndim > 0 and len(numbers) > 0 and np.isnan(numbers[0]).all()
        return numbers[1:] if headed else numbers
    except (ValueError, EOFError):
        text = "is neither a file of numpy.save (.npy) nor a table of numbers (.csv)"
        raise RefusalError(f"{path} {text}") from None
