"""Multi-index teachers: polynomials or smooth functions of orthonormal directions.

A name spells one out: `he2(z1)`, `z1*z2`, `z1+z1*z2+z1*z2*z3`, `0.5*z1+he3(z2)`, `tanh(z1)+z2`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from giantstep.arrays import Array, Reals
from giantstep.numerics.expressions import Evaluate, parse_expression
from giantstep.numerics.gaussian import hermite
from giantstep.numerics.quadrature import product_rule
from giantstep.registry import Family, Named, Registry

# Higher degrees need batches that are too large, more directions too many quadrature nodes.
# Quadrature under a Gaussian, cut at `quadrature.RANGE`, is precise for the fourth power of
# polynomials up to the second of these degrees.
LARGEST_DEGREE, LARGEST_IN_ALL = 5, 6
Powers = tuple[int, ...]
_POWERS = range(LARGEST_DEGREE + 1)
# Functions that are no polynomials are of two directions; more would take too many nodes. Of their
# rules: the degree, and the largest relative error, where it is measured.
_VARIABLES, _SMOOTH_DIRECTIONS, _DEGREE, _SMOOTH, _SHIFT = ("z1", "z2", "z3"), 2, 20, 5e-4, 0.3
_NODES, _SMOOTH_NODES = LARGEST_DEGREE + 2, 2 * _DEGREE + 2
# What of the coefficients is rounding, and their digits; and the largest value.
_ROUNDING, _DIGITS, _LARGEST = 1e-10, 12, 1e30


@dataclass(frozen=True, eq=False)
class Teacher:
    """A function F of a few directions z_k = theta_k . x of the input.

    Attributes
    ----------
    name : str
    terms : mapping
        The coefficient of each product of Hermite polynomials, by their degrees in z1, z2, ...; of
        other functions those up to `LARGEST_DEGREE` in each direction.
    evaluate : callable
        Takes the directions by name.
    is_polynomial : bool
        Whether the terms are all of it.
    """

    name: str
    terms: Mapping[Powers, float]
    evaluate: Evaluate
    is_polynomial: bool

    @property
    def mean(self) -> float:
        """The mean E F."""
        return self.terms.get((0,) * self.directions, 0.0)

    @property
    def directions(self) -> int:
        """The number of directions it depends on."""
        return len(next(iter(self.terms)))

    @property
    def degree(self) -> int:
        """The degree of F, or of a polynomial as near to it as rules for F need."""
        return max(map(sum, self.terms)) if self.is_polynomial else _DEGREE

    @property
    def nodes(self) -> int:
        """The nodes in each direction of a rule that averages its square."""
        return _NODES if self.is_polynomial else _SMOOTH_NODES

    @property
    def linear(self) -> Array:
        """The coefficient E z_k F of each direction, shape (directions,)."""
        units = np.eye(self.directions, dtype=int).tolist()
        return np.array([self.terms.get(tuple(powers), 0.0) for powers in units])

    @property
    def label(self) -> str:
        """Its LaTeX, without dollars."""
        written = re.sub(r"he(\d)\(z(\d)\)", r"\\mathrm{He}_\1(z_\2)", self.name)
        return re.sub(r"\bz(\d)", r"z_\1", written).replace("*", r"\,").replace("+", " + ")

    @property
    def leap(self) -> int:
        """The leap complexity (Abbe, Boix-Adsera, Misiakiewicz 2023).

        Terms are learned one after the other, always the one of lowest degree in directions that
        no earlier term has. The leap is the largest of these degrees.
        """
        powers, largest = np.array([*self.terms]), 0  # in directions that are not learned yet
        while np.any(powers):
            degrees = powers.sum(axis=1)
            easiest = powers[degrees == min(degrees[degrees > 0])][0]
            largest, powers = max(largest, easiest.sum().item()), powers[:, easiest == 0]
        return largest

    def value(self, z: Reals) -> Array:
        """Evaluate F at projections of shape (n, directions)."""
        return _values(self.evaluate, np.asarray(z, dtype=float))

    def mean_given_first(self, s: Array) -> Array:
        """Compute E[F | z_1 = s], elementwise."""
        if self.is_polynomial:
            alone = (powers for powers in self.terms if not any(powers[1:]))
            return sum((self.terms[p] * hermite(p[0], s) for p in alone), np.zeros_like(s))
        others, weights = product_rule(self.directions - 1, self.nodes)
        z = np.column_stack([np.repeat(s.ravel(), len(others)), np.tile(others, (s.size, 1))])
        return self.value(z).reshape(*s.shape, -1) @ weights

    def mean_gradient(self, derivatives: Array, overlaps: Array) -> tuple[Array, Array]:
        """Compute `E dF/dz_k h'(t)` and `E F h''(t)`, t ~ N(0, 1), from means of h's derivatives.

        For a product of Hermite polynomials they are products of powers of the overlaps of t with
        the directions, times the mean of a derivative of h, by Mehler's formula.

        Parameters
        ----------
        derivatives : Array, shape (J,) or (J, N)
            E h, E h', E h'', and so on, up to two beyond the degree.
        overlaps : Array, shape (N, directions)

        Returns
        -------
        Array, shape (N, directions)
        Array, shape (N,)
        """
        along, own = np.zeros_like(overlaps), np.zeros(len(overlaps))
        for powers, coefficient in self.terms.items():
            degree, exponents = sum(powers), np.array(powers)
            for k in np.flatnonzero(exponents):
                lowered = np.prod(overlaps ** (exponents - np.eye(exponents.size)[k]), axis=1)
                along[:, k] += coefficient * powers[k] * derivatives[degree] * lowered
            own += coefficient * derivatives[degree + 2] * np.prod(overlaps**exponents, axis=1)
        return along, own

    def second_moments(self) -> tuple[float, Array]:
        """Compute E F^2, and E F^2 z_k^2 of each direction."""
        z, weights = product_rule(self.directions, self.nodes)
        squares = weights * self.value(z) ** 2
        return float(squares.sum()), squares @ z**2


def _values(evaluate: Evaluate, z: Array) -> Array:
    with np.errstate(all="ignore"):
        values = np.asarray(evaluate(dict(zip(_VARIABLES, z.T, strict=False))) + 0 * z[:, 0])
    if not np.all(np.abs(values) < _LARGEST):
        raise ValueError("not finite, or too large")
    return values


def own_teacher(call: Callable[[Any, Any], Any]) -> Named:
    """Make the teacher of a callable of two arrays, and return its name, which carries it.

    Raises
    ------
    ValueError
        If it is not smooth enough for a rule to average it.
    """
    word = re.sub(r"\W", "", getattr(call, "__name__", ""), flags=re.ASCII) or "function"

    def evaluate(given: Mapping[str, Any]) -> Any:
        return call(*given.values())

    values = _values(evaluate, product_rule(_SMOOTH_DIRECTIONS, LARGEST_DEGREE)[0])
    name = f"{word}-{sha256((np.round(values, 8) + 0.0).tobytes()).hexdigest()[:8]}"
    return Named(name, _made(name, evaluate, _SMOOTH_DIRECTIONS))


def _parse(name: str) -> Teacher:
    """Make the teacher of an expression.

    Raises
    ------
    ValueError
        If it is not the expression of a teacher.
    """
    directions = max(map(int, re.findall(r"\bz([1-9])\b", name)), default=0)
    return _made(name, parse_expression(name, _VARIABLES), directions)


def _made(name: str, evaluate: Evaluate, directions: int) -> Teacher:
    """Make the teacher of what evaluates it: a polynomial, or else one that is smooth.

    Raises
    ------
    ValueError
    """
    z = product_rule(directions, _NODES)[0] + _SHIFT
    values, terms = _values(evaluate, z), _terms(evaluate, directions, _NODES)
    products = (c * np.prod(list(map(hermite, powers, z.T)), axis=0) for powers, c in terms.items())
    is_polynomial = np.abs(sum(products) - values).max() <= _ROUNDING * np.abs(values).max()
    if not is_polynomial:
        if directions != _SMOOTH_DIRECTIONS or not _is_smooth(evaluate):
            raise ValueError(name)
        terms = _terms(evaluate, directions, _SMOOTH_NODES)
    if not np.all(np.any(list(terms), axis=0)):  # a direction is not used
        raise ValueError(name)
    return Teacher(name, terms, evaluate, is_polynomial)


def _is_smooth(evaluate: Evaluate) -> bool:
    """Tell whether two rules have the same averages; at the origin errors may cancel."""
    moments = []
    for nodes in (_SMOOTH_NODES, 3 * _DEGREE + 3):
        z, weights = product_rule(_SMOOTH_DIRECTIONS, nodes)
        values = _values(evaluate, z + _SHIFT)
        moments.append((weights @ values, weights @ values**2))
    (mean, square), (exact, exact_square) = moments
    errors = (mean - exact) / math.sqrt(exact_square), square / exact_square - 1
    return bool(np.max(np.abs(errors)) < _SMOOTH)


def _terms(evaluate: Evaluate, directions: int, nodes: int) -> dict[Powers, float]:
    """Compute the coefficients of products of Hermite polynomials, without those of rounding."""
    z, weights = product_rule(directions, nodes)
    values = _values(evaluate, z)
    least, products = _ROUNDING * math.sqrt(weights @ values**2), weights * values
    for z_k in z.T:
        scaled = np.stack([hermite(power, z_k) / math.factorial(power) for power in _POWERS])
        products = products[..., None, :] * scaled
    of_all = np.ndenumerate(products.sum(axis=-1))
    return {powers: float(f"{c:.{_DIGITS}g}") for powers, c in of_all if abs(c) > least}


KNOWN_TEACHERS: Registry[Teacher] = Registry(
    {},
    Family(
        "",
        _parse,
        f"a sum of products of z1, z2 and z3 (of degree {LARGEST_DEGREE} in each and"
        f" {LARGEST_IN_ALL} in all, without gaps) or of he2(z1) and so on, such as z1+z1*z2, or a"
        " smooth expression of z1 and z2 such as tanh(z1)+z2",
    ),
    kind=Teacher,
)
lookup_teacher = KNOWN_TEACHERS.lookup
