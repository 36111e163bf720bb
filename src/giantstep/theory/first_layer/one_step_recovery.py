"""How much one gradient step recovers of a multi-index teacher: docs/what-one-step-sees.md."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.gaussian import expectation, mean_derivatives
from giantstep.numerics.quadrature import product_rule
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.recovery import Recovery
from giantstep.problems.teachers import Teacher, lookup_teacher

# Quadrature nodes for each direction, over the overlaps of a row at initialisation.
_NODES = 64
# Of derivatives of the activation: two more than any teacher's.
_DEGREE = 32


class ExpectedOverlaps(NamedTuple):
    """Squared overlaps with each direction of the teacher, averaged over rows.

    Attributes
    ----------
    overlap : Array, shape (r,)
        Fraction of a row's squared norm along each direction, after the step.
    update_overlap : Array, shape (r,)
        The same fraction for the change of the row.
    """

    overlap: Array
    update_overlap: Array


def expected_overlaps(problem: Recovery, dimension: int) -> ExpectedOverlaps:
    """Compute the expected overlaps of rows after one step, averaged over the initialisation.

    By Stein's lemma and Mehler's formula the mean of a row's gradient is a polynomial in its
    overlaps with the directions, which are independent N(0, 1/d) for large d; its covariance is
    `E y^2 sigma'^2 x x^T/n0`. The relative error is of order 1/d.

    Parameters
    ----------
    problem : Recovery
    dimension : int
        d.

    Returns
    -------
    ExpectedOverlaps

    Examples
    --------
    >>> from giantstep.problems.recovery import Recovery
    >>> problem = Recovery("elu", "z1+z1*z2", learning_rate=1.0, alpha0=8.0)
    >>> expected_overlaps(problem, dimension=128).update_overlap.round(3)
    array([0.776, 0.004])
    """
    teacher = lookup_teacher(problem.teacher)
    xi, weights = product_rule(teacher.directions, _NODES)
    m = xi / math.sqrt(dimension)
    signal, along_row, square, spread = _gradient(problem, teacher, m, dimension)
    update = (signal**2 + spread) / square[:, None]
    rate, rows = problem.rate(dimension), np.zeros_like(update)
    for sign in (1.0, -1.0):  # of the readout
        step = sign * rate
        along = (m + step * signal) ** 2 + step**2 * spread
        norm = 1 + 2 * step * along_row + step**2 * square
        rows += along / norm[:, None] / 2
    return ExpectedOverlaps(weights @ rows, weights @ update)


def _gradient(
    problem: Recovery, teacher: Teacher, m: Array, dimension: int
) -> tuple[Array, Array, Array, Array]:
    """Compute mean and variance of a row's gradient, at N values of its overlaps with r directions.

    Returns
    -------
    signal : Array, shape (N, r)
        The mean along the directions.
    along_row : Array, shape (N,)
        The mean along the row.
    square : Array, shape (N,)
        The mean of the squared norm.
    spread : Array, shape (r,)
        The variance along each direction.
    """
    activation = lookup(problem.activation)
    along, own = teacher.mean_gradient(mean_derivatives(activation, _DEGREE), m)
    signal = along + own[:, None] * m
    square = np.sum(signal**2, axis=1) + own**2 * np.maximum(1 - np.sum(m**2, axis=1), 0)
    second, with_directions = teacher.second_moments()
    slope = expectation(activation, lambda t: activation.derivative(t) ** 2)
    with_row = expectation(activation, lambda t: (t * activation.derivative(t)) ** 2)
    across = (dimension - teacher.directions - 1) * second * slope
    count = problem.batch(dimension)
    spread = with_directions * slope / count
    variance = spread.sum() + (across + second * with_row) / count
    return signal, np.sum(along * m, axis=1) + own, square + variance, spread
