"""What the first layer sees of a multi-index teacher: the problem, and its theory for one step.

A network `f(x) = sum_i omega_i sigma(w_i.x)/p` starts with rows on the unit sphere, in pairs of
the same row with omega = 1 and -1, so that it is zero; it takes steps on batches of
`n0 = alpha0 d^exponent` samples of a noiseless teacher. What is asked is how much of its rows, and
of their change, lies along each direction of the teacher (docs/what-one-step-sees.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from giantstep.activations import Array, known_names, lookup
from giantstep.faults import (
    COUNT,
    NON_NEGATIVE,
    POSITIVE,
    Fault,
    Interval,
    InvalidParametersError,
    interval_faults,
    plain_number,
)
from giantstep.gaussian import expectation, hermite_coefficients
from giantstep.sizes import DIMENSION, LARGEST
from giantstep.teachers import ALLOWED, Powers, Teacher, lookup_teacher, product_rule

# Nodes a direction over which the overlaps of a row at initialisation are averaged.
_NODES = 64
# Orders of n0 in d that anybody can pay for.
_EXPONENT = Interval(0, 4)


@dataclass(frozen=True)
class Recovery:
    """Steps of a network on batches of a multi-index teacher.

    Attributes
    ----------
    activation : str
        A continuous one, of any parity.
    teacher : str
        As `teachers.lookup_teacher` reads it.
    learning_rate : float
        eta >= 0: a row changes by `eta d^((exponent - 1)/2)` times the mean of
        `omega (y - f(x)) sigma'(w.x) x` over the batch, which keeps the change of order one.
    alpha0, exponent : float
        The batch has `n0 = alpha0 d^exponent` samples.
    width : int
        p, even.
    steps : int
    reuse_batch : bool
        Whether later steps take the batch of the first, instead of a fresh one each.

    Raises
    ------
    InvalidParametersError
        With every value that is out of its domain.
    """

    activation: str
    teacher: str
    learning_rate: float
    alpha0: float
    exponent: float = 1.0
    width: int = 128
    steps: int = 1
    reuse_batch: bool = False

    def __post_init__(self) -> None:
        intervals = {
            "learning_rate": NON_NEGATIVE,
            "alpha0": POSITIVE,
            "exponent": _EXPONENT,
            "width": COUNT,
            "steps": COUNT,
        }
        for name in ("learning_rate", "alpha0", "exponent"):
            object.__setattr__(self, name, plain_number(getattr(self, name)))
        faults = self._function_faults() + interval_faults(vars(self), intervals)
        if self.width in COUNT and (self.width % 2 or self.width > LARGEST):
            faults.append(
                Fault("width", self.width, f"even, since rows pair, and at most {LARGEST}")
            )
        if not isinstance(self.reuse_batch, bool):
            faults.append(Fault("reuse_batch", self.reuse_batch, "true or false"))
        if faults:
            raise InvalidParametersError(faults)

    def _function_faults(self) -> list[Fault]:
        faults = []
        try:
            if not lookup(str(self.activation)).continuous:
                faults.append(Fault("activation", self.activation, "continuous"))
        except KeyError:
            faults.append(Fault("activation", self.activation, f"one of {known_names()}"))
        try:
            lookup_teacher(str(self.teacher))
        except KeyError:
            faults.append(Fault("teacher", self.teacher, ALLOWED))
        return faults

    def batch(self, dimension: int) -> int:
        """Give n0, LARGEST + 1 at most."""
        return round(min(self.alpha0 * math.pow(dimension, self.exponent), LARGEST + 1))

    def rate(self, dimension: int) -> float:
        """Give the factor of a row's gradient."""
        return self.learning_rate * math.pow(dimension, (self.exponent - 1) / 2)


def check_dimension(problem: Recovery, dimension: int) -> None:
    """Refuse a dimension at which a batch is empty or out of reach, or that is not of inputs.

    Raises
    ------
    InvalidParametersError
    """
    least = 2 * lookup_teacher(problem.teacher).directions
    if dimension not in DIMENSION or dimension < least:
        allowed = f"a whole number of at least {least}, twice the teacher's directions"
        raise InvalidParametersError([Fault("dimension", dimension, allowed)])
    if not 1 <= problem.batch(dimension) <= LARGEST:
        allowed = f"such that alpha0 * dimension^exponent (at {dimension}) is from 1 to {LARGEST}"
        raise InvalidParametersError([Fault("alpha0", problem.alpha0, allowed)])


class Seen(NamedTuple):
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


def expected_overlaps(problem: Recovery, dimension: int) -> Seen:
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
    return Seen(weights @ rows, weights @ update)


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
