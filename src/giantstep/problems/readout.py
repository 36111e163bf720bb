"""Vocabularies: the finitely many values that a quantity takes, with their fractions.

The initial readout, quenched biases and the levels of label noise are all given this way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

from scipy.special import ndtri, roots_legendre

from giantstep.problems.domains import LETTER
from giantstep.problems.parameter import Parameter
from giantstep.validation import POSITIVE

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


@dataclass(frozen=True)
class VocabularyDomain:
    """Pairs of a value and a fraction, rescaled to add up to one; or words for some of them."""

    words: Mapping[str, Vocabulary] = field(default_factory=dict)

    def __str__(self) -> str:
        names = "".join(f", or {word}" for word in self.words)
        return f"pairs of {LETTER} and a fraction > 0, the fractions adding up to 1{names}"

    def read(self, value: Any) -> Vocabulary:
        """Return a tuple of pairs, which may be given as a mapping.

        Raises
        ------
        ValueError or TypeError
        """
        word = value[0] if isinstance(value, tuple | list) and len(value) == 1 else value
        if isinstance(word, str) and word in self.words:
            return self.words[word]
        given = value.items() if isinstance(value, Mapping) else value
        pairs = [(LETTER.read(letter), POSITIVE.read(fraction)) for letter, fraction in given]
        # One after the other: `sum` rounds otherwise from Python 3.12 on, and seeds hash fractions.
        total = reduce(add, (fraction for _, fraction in pairs), 0.0)
        if abs(total - 1) > FRACTION_ROUNDING:
            raise ValueError(str(self))
        return tuple((letter, fraction / total) for letter, fraction in pairs)


READOUT = Parameter(
    "values of the initial readout, and their shares",
    r"\omega",
    VocabularyDomain({"normal": NORMAL}),
    "App. D",
    "initial readout",
    note="values are those of sqrt(p) a0",
)
BIAS = Parameter(
    "quenched biases of the neurons, and their shares", "b", VocabularyDomain(), "App. D"
)
