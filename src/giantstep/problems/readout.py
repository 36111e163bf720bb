"""Vocabularies: the finitely many values that a quantity takes, with their fractions.

The initial readout, quenched biases and the levels of label noise are all given this way.
"""

from __future__ import annotations

from typing import Any

from giantstep.problems.domains import LETTER
from giantstep.validation import POSITIVE, Fault, plain_number

Vocabulary = tuple[tuple[float, float], ...]
UNIFORM: Vocabulary = ((1.0, 1.0),)
UNBIASED: Vocabulary = ((0.0, 1.0),)
# How far fractions may be from adding up to one; they are then rescaled.
FRACTION_ROUNDING = 1e-6


def check_vocabulary(value: Any, name: str) -> tuple[Vocabulary, list[Fault]]:
    """Convert to a tuple of (value, fraction) pairs whose fractions add up to one.

    Parameters
    ----------
    value : sequence of pairs
    name : str
        The parameter to blame.

    Returns
    -------
    vocabulary : Vocabulary
        `UNIFORM` in place of one that is refused.
    faults : list of Fault
    """
    allowed = f"pairs of {LETTER} and a fraction > 0, the fractions adding up to 1"
    try:
        pairs = [(plain_number(letter), plain_number(fraction)) for letter, fraction in value]
    except (TypeError, ValueError):
        return UNIFORM, [Fault(name, value, allowed)]
    total = sum(fraction for _, fraction in pairs if fraction in POSITIVE)
    valid = all(letter in LETTER and fraction in POSITIVE for letter, fraction in pairs)
    if not pairs or not valid or abs(total - 1) > FRACTION_ROUNDING:
        return UNIFORM, [Fault(name, value, allowed)]
    return tuple((letter, fraction / total) for letter, fraction in pairs), []
