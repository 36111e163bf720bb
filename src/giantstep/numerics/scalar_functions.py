"""Activations and targets by their names: those of the table, polynomials and expressions.

Polynomials are given by their coefficients: `polynomial:0,1,0,0.5` is x + x^3/2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from giantstep.numerics.expressions import expression_function
from giantstep.numerics.function_table import FUNCTIONS, ScalarFunction, polynomial
from giantstep.registry import Family, Registry
from giantstep.validation import read_number

# The targets whose labels are +1 and -1: a function of one direction, and the class of an input.
SIGN, CLASS = BINARY = "sign", "class"
_POLYNOMIAL = "polynomial:"
# Of a polynomial that is written out: squares of features stay finite.
LARGEST_COEFFICIENT = 1e6


def _written_out(text: str) -> ScalarFunction:
    """Make the polynomial of coefficients given as text, constant first."""
    coefficients = [read_number(c) for c in text.split(",")]
    if (
        not np.all(np.abs(coefficients) <= LARGEST_COEFFICIENT)
        or not any(coefficients)
        or len(coefficients) > 30
    ):
        raise ValueError(text)
    return polynomial(_POLYNOMIAL + text, _sum_of_powers(coefficients), coefficients)


def _sum_of_powers(coefficients: Sequence[float]) -> str:
    """Write a polynomial in LaTeX."""
    text = ""
    for degree, c in enumerate(coefficients):
        factor = "" if degree and abs(c) == 1 else f"{abs(c):g}"
        power = f"z^{{{degree}}}" if degree > 1 else "z" * degree
        sign = "-" if c < 0 else "+" * bool(text)
        text += f"{sign}{factor}{power}" if c else ""
    return text


KNOWN_FUNCTIONS = Registry(
    FUNCTIONS,
    Family(_POLYNOMIAL, _written_out, "polynomial:c0,c1,..."),
    Family("", expression_function, "an expression of z such as z+sin(2*z)"),
    # On inputs of class +1. It is no function of one direction, but odd in the input as a whole.
    unlisted={CLASS: ScalarFunction(CLASS, np.ones_like, np.zeros_like, "odd")},
    kind=ScalarFunction,
)
lookup = KNOWN_FUNCTIONS.lookup


@lru_cache(maxsize=64)
def shifted(f: ScalarFunction, mean: float) -> ScalarFunction:
    """Return `f(mean + z)` as a function of z."""
    known = f.moments
    return replace(
        f,
        value=lambda z: f.value(mean + z),
        derivative=lambda z: f.derivative(mean + z),
        parity="none",
        kinks=tuple(kink - mean for kink in f.kinks),
        moments=None if known is None else lambda z, std: known(mean + z, std),
    )
