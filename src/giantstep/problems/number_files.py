"""Numbers in files: arrays of `numpy.save`, or tables in CSV."""

from __future__ import annotations

import warnings
from pathlib import Path  # noqa: TID251
from typing import Any

import numpy as np

from giantstep.validation import RefusalError

# What such files hold becomes part of a problem, and of its keys.
SUFFIXES = (".npy", ".csv")
# Names of an index that pandas has saved.
_UNNAMED = ("", "Unnamed: 0")


def load_numbers(path: str) -> Any:
    """Read an array from a file; a table may have a line of names.

    Raises
    ------
    OSError
    RefusalError
        For other kinds of files, and for a table that numbers its rows or columns.
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
    """Read a table; entries that are not numbers are NaN.

    Raises
    ------
    OSError, RefusalError
    ValueError
        If its lines are not equally long, or hold no number at all.
    """
    lines = Path(path).read_text("utf-8-sig").splitlines()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of an empty file
        numbers = np.genfromtxt(lines, float, delimiter=",")
    if np.isnan(numbers).all():
        raise ValueError
    first = np.genfromtxt(lines, str, delimiter=",", max_rows=1)
    names = [name.strip(' "') for name in np.atleast_1d(first).tolist()]
    # A first line of 0, 1 may be a label, one-hot.
    numbered = len(names) > 2 and names == [*map(str, range(len(names)))]
    if numbered or names[0] in _UNNAMED:
        text = "begins with numbers of its rows or columns: leave these out (pandas: index, header)"
        raise RefusalError(f"{path} {text}")
    return numbers[1:] if numbers.ndim and np.isnan(numbers[0]).all() else numbers
