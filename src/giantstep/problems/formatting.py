"""Parameters written as people write them: in labels, names of files and arguments."""

from __future__ import annotations

import math

from giantstep.problems.readout import Vocabulary


def format_number(value: float) -> str:
    """Write a number as briefly as identifies it: 1, 0.5, inf."""
    return str(int(value)) if math.isfinite(value) and value == int(value) else repr(value)


def format_vocabulary(vocabulary: Vocabulary) -> str:
    """Write a vocabulary as the command line reads it: `0.5:0.3 2:0.7`."""
    pairs = (f"{format_number(value)}:{format_number(fraction)}" for value, fraction in vocabulary)
    return " ".join(pairs)
