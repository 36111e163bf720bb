"""Vocabularies: the finitely many values that a quantity takes, with their fractions.

The initial readout, quenched biases and the levels of label noise are all given this way.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

from scipy.special import ndtri, roots_legendre

from giantstep.problems.domains import LETTER
from giantstep.problems.parameter import Parameter
from giantstep.validation import POSITIVE, Fault, plain_number

Vocabulary = tuple[tuple[float, float], ...]
UNIFORM: Vocabulary = ((1.0, 1.0),)
UNBIASED: Vocabulary = ((0.0, 1.0),)


def normal_letters(count: int) -> Vocabulary:
    """Choose values for N(0, 1): Gauss-Legendre nodes of the probability below a value.

    Examples
    --------
    >>> [round(value, 4) for value, _ in normal_letters(3)]
    [-1.2123, 0.0, 1.2123]
    """
    points, weights = roots_legendre(count)
    values = ndtri((1 + points) / 2)
    return tuple(zip(values.tolist(), (weights / 2).tolist(), strict=True))


# What the theory takes in the place of the normal law, and to see its error.
NORMAL, FINER_NORMAL = normal_letters(12), normal_letters(24)
# How far fractions may be from adding up to one; they are then rescaled.
FRACTION_ROUNDING = 1e-6


class VocabularyDomain:
    """Pairs of a value and a fraction; the fractions are rescaled to add up to one.

    Some vocabularies have names.
    """

    def __init__(self, **words: Vocabulary) -> None:
        self.words = words

    def __str__(self) -> str:
        names = "".join(f", or {word}" for word in self.words)
        return f"pairs of {LETTER} and a fraction > 0, the fractions adding up to 1{names}"

    def read(self, name: str, value: Any) -> tuple[Vocabulary, list[Fault]]:
        """Return a tuple of pairs, `UNIFORM` in place of one that is refused with a fault."""
        fault, word = [Fault(name, value, str(self))], value
        if isinstance(value, tuple | list) and len(value) == 1:
            (word,) = value
        if isinstance(word, str) and word in self.words:
            return self.words[word], []
        try:
            pairs = [(plain_number(letter), plain_number(fraction)) for letter, fraction in value]
        except (TypeError, ValueError):
            return UNIFORM, fault
        # One after the other: `sum` rounds otherwise from Python 3.12 on, and seeds hash fractions.
        total = reduce(add, (fraction for _, fraction in pairs if fraction in POSITIVE), 0.0)
        valid = all(letter in LETTER and fraction in POSITIVE for letter, fraction in pairs)
        if not pairs or not valid or abs(total - 1) > FRACTION_ROUNDING:
            return UNIFORM, fault
        return tuple((letter, fraction / total) for letter, fraction in pairs), []


READOUT = Parameter(
    "values of the initial readout, and their shares",
    r"\omega",
    VocabularyDomain(normal=NORMAL),
    "App. D",
    "initial readout",
    note="values are those of sqrt(p) a0",
)
BIAS = Parameter(
    "quenched biases of the neurons, and their shares", "b", VocabularyDomain(), "App. D"
)
