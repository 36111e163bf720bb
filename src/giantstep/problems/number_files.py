"""Numbers in files: arrays of `numpy.save`, or tables in CSV."""

from __future__ import annotations

import warnings
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
        For other kinds of files, and for a table whose first column numbers the rows.
    """
    try:
        numbers = _table(path) if path.endswith(".csv") else np.load(path, allow_pickle=False)  # noqa: TID251
        if isinstance(numbers, np.ndarray):
            return numbers
    except (ValueError, EOFError):
        pass
    text = "is neither a file of numpy.save (.npy) nor a table of numbers with commas (.csv)"
    raise RefusalError(f"{path} {text}")


def _table(path: str) -> Any:
    """Read a table, in which what is no number is NaN.

    Raises
    ------
    OSError, RefusalError
    ValueError
        If its lines are not equally long, or hold no number at all.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of an empty file
        numbers = np.genfromtxt(path, float, delimiter=",")
    if np.isnan(numbers).all():
        raise ValueError
    # Names as pandas gives them; of two columns it may be a label, one-hot.
    if numbers.ndim == 2 and len(numbers[0]) > 2 and np.all(numbers[0] == range(len(numbers[0]))):
        return numbers[1:]
    if numbers.ndim == 0 or not np.isnan(numbers[0]).all():
        return numbers
    names = np.genfromtxt(path, str, delimiter=",", max_rows=1, encoding="utf-8-sig")
    if not names.flat[0]:  # as pandas writes an index
        text = "has a first column without a name, which numbers its rows: leave it out"
        raise RefusalError(f"{path} {text}")
    return numbers[1:]
