"""Activations and targets by their names: those of the table, polynomials and expressions.

Polynomials are given by their coefficients: `polynomial:0,1,0,0.5` is x + x^3/2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from giantstep.numerics.expressions import expression_function
from giantstep.numerics.function_table import FUNCTIONS, ScalarFunction, polynomial
from giantstep.registry import Family, Registry
from giantstep.validation import Interval, read_number

# The targets whose labels are +1 and -1: a function of one direction, and the class of an input.
SIGN, CLASS = BINARY = "sign", "class"
_POLYNOMIAL = "polynomial:"
# Of a polynomial that is written out: squares of features stay finite.
_COEFFICIENT = Interval(-1e6, 1e6)


def _written_out(text: str) -> ScalarFunction:
    """Make the polynomial of coefficients given as text, constant first."""
    coefficients = [read_number(c, _COEFFICIENT) for c in text.split(",")]
    if len(coefficients) > 30 or not any(coefficients):
        raise ValueError(text)
    return polynomial(_POLYNOMIAL + text, _sum_of_powers(coefficients), coefficients)


def _sum_of_powers(coefficients: Sequence[float]) -> str:
    """Write a polynomial in LaTeX."""
    text = "+".join(f"{c:g}z^{{{k}}}" for k, c in enumerate(coefficients) if c)
    text = text.replace("+-", "-").replace("z^{0}", "").replace("z^{1}", "z")
    return re.sub(r"(?<![\d.])1z", "z", text)


KNOWN_FUNCTIONS = Registry(
    FUNCTIONS,
    Family(_POLYNOMIAL, _written_out, "polynomial:c0,c1,..."),
    Family("", expression_function, "an expression of z such as z+sin(2*z)"),
    kind=ScalarFunction,
)
# On inputs of class +1. It is no function of one direction, but odd in the input as a whole.
_OF_CLASS = ScalarFunction(CLASS, np.ones_like, np.zeros_like, "odd")


def lookup(name: str) -> ScalarFunction:
    """Find a function by its name, or that of the class of inputs, which is a target alone."""
    return _OF_CLASS if name == CLASS else KNOWN_FUNCTIONS.lookup(name)


@lru_cache(maxsize=64)
def shifted(f: ScalarFunction, mean: float) -> ScalarFunction:
    """Return `f(mean + z)` as a function of z."""
    return replace(
        f,
        value=lambda z: f.value(mean + z),
        derivative=lambda z: f.derivative(mean + z),
        parity="none",
        kinks=tuple(kink - mean for kink in f.kinks),
    )
