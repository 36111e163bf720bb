"""Samples in files: arrays of `numpy.save`, or CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from giantstep.validation import RefusalError


def load_samples(path: Path) -> Any:
    """Read an array from a file.

    Raises
    ------
    OSError
    RefusalError
        For other kinds of files.
    """
    try:
        if path.suffix != ".csv":
            return np.load(path, allow_pickle=False)
        numbers = np.genfromtxt(path, delimiter=",", dtype=float)
        headed = numbers.ndim > 0 and len(numbers) > 0 and np.isnan(numbers[0]).all()
        return numbers[1:] if headed else numbers
    except (ValueError, EOFError):
        text = "is neither a file of numpy.save (.npy) nor a table of numbers (.csv)"
        raise RefusalError(f"{path} {text}") from None
