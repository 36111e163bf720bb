"""What one step sees of a multi-index teacher, in theory: docs/what-one-step-sees.md."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.gaussian import expectation, hermite_coefficients
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.recovery import Recovery
from giantstep.problems.teachers import Powers, Teacher, lookup_teacher, product_rule

# Nodes a direction over which the overlaps of a row at initialisation are averaged.
_NODES = 64


class ExpectedOverlaps(NamedTuple):
    """Shares of squared norms along each direction of the teacher, shape (r,), averaged over rows.

    Attributes
    ----------
    overlap : Array
        Of the rows after the step.
    update_overlap : Array
        Of their change.
    """

    overlap: Array
    update_overlap: Array


class _Gradient(NamedTuple):
    """The gradient of a row by its overlaps m with the directions, at N values of m.

    Attributes
    ----------
    signal : Array, shape (N, r)
        Its mean along the directions.
    along_row : Array, shape (N,)
        Its mean along the row.
    square : Array, shape (N,)
        The mean's squared norm.
    spread : Array, shape (r,)
        Its variance along each direction.
    variance : float
        Its variance in all.
    """

    signal: Array
    along_row: Array
    square: Array
    spread: Array
    variance: float


def expected_overlaps(problem: Recovery, dimension: int) -> ExpectedOverlaps:
    """Compute what one step sees: signal over signal and noise, averaged over initial rows.

    By Stein's lemma and Mehler's formula the mean of a row's gradient is a polynomial in its
    overlaps with the directions, independent N(0, 1/d) as d grows; its covariance is
    `E y^2 sigma'^2 x x^T/n0`. What is left out is of relative order 1/d.
    """
    teacher = lookup_teacher(problem.teacher)
    xi, weights = product_rule(teacher.directions, _NODES)
    m = xi / math.sqrt(dimension)
    g = _gradient(problem, teacher, m, dimension)
    update = (g.signal**2 + g.spread) / (g.square + g.variance)[:, None]
    rate, rows = problem.rate(dimension), np.zeros_like(update)
    for sign in (1.0, -1.0):  # of the readout
        step = sign * rate
        along = (m + step * g.signal) ** 2 + step**2 * g.spread
        norm = 1 + 2 * step * g.along_row + step**2 * (g.square + g.variance)
        rows += along / norm[:, None] / 2
    return ExpectedOverlaps(weights @ rows, weights @ update)


def _gradient(problem: Recovery, teacher: Teacher, m: Array, dimension: int) -> _Gradient:
    slopes = _slopes(problem.activation)
    moved, own, along = np.zeros_like(m), np.zeros(m.shape[0]), np.zeros(m.shape[0])
    for powers, coefficient in teacher.terms.items():
        degree = sum(powers)
        for k, power in enumerate(powers):
            if power:
                moved[:, k] += coefficient * power * slopes[degree - 1] * _monomial(m, powers, k)
        term = coefficient * _monomial(m, powers)
        own += slopes[degree + 1] * term
        along += (degree * slopes[degree - 1] + slopes[degree + 1]) * term
    signal = moved + own[:, None] * m
    square = np.sum(signal**2, axis=1) + own**2 * np.maximum(1 - np.sum(m**2, axis=1), 0)
    second, with_directions = teacher.second_moments()
    activation = lookup(problem.activation)
    slope = expectation(activation, lambda t: activation.derivative(t) ** 2)
    with_row = expectation(activation, lambda t: (t * activation.derivative(t)) ** 2)
    across = (dimension - teacher.directions - 1) * second * slope
    count = problem.batch(dimension)
    spread = with_directions * slope / count
    variance = spread.sum() + (across + second * with_row) / count
    return _Gradient(signal, along, square, spread, float(variance))


def _slopes(activation: str) -> Array:
    """Compute E of the activation's derivatives from the first on: `s_j = E sigma^(j+1)`."""
    degree = 32
    normalised = hermite_coefficients(lookup(activation), degree)
    factors = [math.sqrt(math.factorial(k)) for k in range(degree + 1)]
    slopes: Array = (normalised * factors)[1:]
    return slopes


def _monomial(m: Array, powers: Powers, less: int | None = None) -> Array:
    """Compute the product of overlaps to their powers, one of them less by one."""
    lowered = [power - (k == less) for k, power in enumerate(powers)]
    product: Array = np.prod(m**lowered, axis=1)
    return product
