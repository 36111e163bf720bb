"""Expectations under N(0, 1): moments of scalar functions, Hermite coefficients, signs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermeval
from scipy.special import ndtr

from giantstep.arrays import Array, RealOrComplex
from giantstep.numerics.function_table import ScalarFunction
from giantstep.numerics.quadrature import (
    RANGE,
    WIDE,
    legendre_rule,
    normal_density,
    product_rule,
    split_rule,
    strip_rule,
    unit_edges,
)

# What integrands may have left where rules end, relatively. They are then right to less than this.
LONGEST_TAIL = 1e-7
# Standard deviation from which a sigmoid is integrated like a step.
_WIDE = 20.0
# Moments at so many means are computed together: functions with many kinks have many nodes.
_MEANS = 2000
# Larger correlations are replaced by this one, which moves probabilities by 1e-8.
_CORRELATED = 1 - 1e-15
# An exponential of less is nothing, and no number that processors are slow with.
_MOST = 600.0


class GaussianMoments(NamedTuple):
    """Moments of f(t), `t = mean + std z`, under z ~ N(0, 1); theory.md sections 2-4.

    Attributes
    ----------
    mean : Array
        E f(t).
    slope : Array
        E z f(t).
    residual : Array
        E (f(t) - mean - slope z)^2, the part of f that is not linear in z; never negative.
    curvature : Array
        E (z^2 - 1) f(t).
    """

    mean: Array
    slope: Array
    residual: Array
    curvature: Array

    @property
    def second(self) -> Array:
        """E f(t)^2."""
        return self.residual + self.mean**2 + self.slope**2


def moments(
    function: ScalarFunction, mean: RealOrComplex | float, std: float, fineness: float = 1
) -> GaussianMoments:
    """Compute the moments of f(mean + std z), z ~ N(0, 1).

    By the rules of `gaussian_rule`.

    Parameters
    ----------
    function : ScalarFunction
    mean : array, any shape
        If it is complex, z leaves the axis, so that f need not be known elsewhere.
    std : float
        Non-negative; at zero the mean is f itself.
    fineness : float
        Multiplies the number of nodes of the split rule if it is above one: rough moments would
        lead solutions on rough rules astray. The other rules are exact to rounding.
    """
    mean = np.asarray(mean) + 0.0
    if std == 0:
        return GaussianMoments(function.value(mean), *np.zeros((3, *mean.shape)))
    if mean.size > _MEANS:
        parts = np.array_split(mean.ravel(), math.ceil(mean.size / _MEANS))
        found = zip(*(moments(function, part, std, fineness) for part in parts), strict=True)
        return GaussianMoments(*(np.concatenate(some).reshape(mean.shape) for some in found))
    z, weights = gaussian_rule(function, mean.real, std, max(1.0, fineness), WIDE)
    values = function.value(mean.real[..., None] + std * z)
    if np.iscomplexobj(mean):
        turn = mean.imag[..., None] / std
        z, weights = z - 1j * turn, weights * np.exp(turn * (1j * z + turn / 2))
    average = partial(np.einsum, "...z,...z->...")
    first, slope, curvature = (average(values, weights * x) for x in (1.0, z, z**2 - 1))
    rest = values - first[..., None] - slope[..., None] * z
    return GaussianMoments(first, slope, average(rest * rest, weights), curvature)


def gaussian_rule(
    function: ScalarFunction,
    mean: Array,
    std: Array | float,
    fineness: float = 1,
    panel: float = 1.0,
) -> tuple[Array, Array]:
    """Choose nodes and weights of z ~ N(0, 1) for integrands made of f(mean + std z), std > 0.

    For a polynomial, a rule that is exact for its fourth power times z^9. The trapezoidal rule if f
    is analytic, unless the Gaussian is so wide that f looks like a step. Otherwise quadrature split
    at its kinks, on panels of width `panel`. Each mean may have a std of its own.

    Returns
    -------
    z, weights : Array, shape (Z,) or (..., Z)
    """
    if function.degree is not None:
        nodes, exact = product_rule(1, 2 * function.degree + 5)
        return nodes[:, 0], exact
    widest = float(np.max(std))
    if function.strip is not None and (widest < _WIDE or function.oscillates):
        return strip_rule(function.strip / widest)
    # Edges at every kink (the origin if there is none) and, for wide Gaussians, at distances
    # 1, 2, 4 ... from it: the function varies on a scale of one there.
    steps = 2.0 ** np.arange(6)
    distances = np.concatenate([[0], steps, -steps]) if widest > 1 else np.zeros(1)
    places = np.add.outer(function.kinks or (0.0,), distances).ravel()
    return split_rule(
        unit_edges((places - mean[..., None]) / np.asarray(std)[..., None], panel), fineness
    )


def expectation(function: ScalarFunction, values: Callable[[Array], Array]) -> float:
    """Compute E values(z), z ~ N(0, 1), for an integrand that is smooth except at f's kinks."""
    z, weights = split_rule(unit_edges(np.array(function.kinks)))
    return float(weights @ values(z))


def tail(values: Callable[[Any], Any], std: float = 1.0) -> float:
    """Compute z^2 f(std z)^2 under N(0, 1) where quadrature rules end, over its integral."""
    z = np.linspace(-RANGE, RANGE, 801)
    with np.errstate(all="ignore"):
        integrand = z**2 * values(std * z) ** 2 * normal_density(z)
        share = max(integrand[0], integrand[-1]) / (integrand.sum() * (z[1] - z[0]))
    return float(share) if np.isfinite(share) else np.inf


@cache
def standard_moments(function: ScalarFunction) -> GaussianMoments:
    """Compute E f, E z f and the residual of f(z), z ~ N(0, 1)."""
    return moments(function, 0.0, 1.0)


@cache
def self_gradient(function: ScalarFunction) -> float:
    """Compute E z f(z) f'(z): of a unit row's gradient, the part from the row's own output."""
    return expectation(function, lambda z: z * function.value(z) * function.derivative(z))


def hermite(degree: int, z: Array) -> Array:
    """Compute the probabilists' Hermite polynomial He_k, elementwise."""
    return np.asarray(hermeval(z, [0] * degree + [1]))


def hermite_polynomials(z: Array, degree: int) -> Iterator[Array]:
    """Compute He_k(z) / sqrt(k!) for k = 0 ... degree, one after the other."""
    previous, current = np.zeros_like(z), np.ones_like(z)
    for k in range(degree + 1):
        yield current
        previous, current = current, (z * current - np.sqrt(k) * previous) / np.sqrt(k + 1)


def hermite_coefficients(function: ScalarFunction, degree: int) -> Array:
    """Compute E f(z) He_k(z) / sqrt(k!) for k = 0 ... degree.

    Parameters
    ----------
    function : ScalarFunction
    degree : int
        At most about 150: unit panels do not resolve He_k beyond that.

    Returns
    -------
    Array, shape (degree + 1,)
    """
    z, weights = split_rule(unit_edges(np.array(function.kinks)))
    weighted = weights * function.value(z)
    return np.array([weighted @ He for He in hermite_polynomials(z, degree)])


@cache
def mean_derivatives(function: ScalarFunction, degree: int) -> Array:
    """Compute E f(z) He_k(z), which is the mean of the k-th derivative, k = 0 ... degree."""
    factorials = [math.sqrt(math.factorial(k)) for k in range(degree + 1)]
    return hermite_coefficients(function, degree) * factorials


def opposite_signs(u: Array, v: Array, correlation: Array) -> Array:
    """Compute P((X + u) (Y + v) < 0) for standard normal X and Y of some correlations.

    Without correlation it is a product. By it, it falls as twice the density of X and Y at -u and
    -v, Plackett's identity, which is integrated over t for a correlation of tanh(t).
    """
    u, v = np.where(v < 0, -u, u), np.abs(v)
    half = np.arctanh(np.clip(correlation, -_CORRELATED, _CORRELATED)) / 2
    longest = np.fmax.reduce(np.abs(half), axis=None, initial=0.0)
    apart, together, density = (u - v) / math.sqrt(8), (u + v) / math.sqrt(8), np.zeros(u.shape)
    for place, weight in zip(*legendre_rule(math.ceil(2 + 10 * longest)), strict=True):
        growth = np.exp(half * (1 + place))
        inverse = 1 / growth
        exponent = np.minimum((apart * growth + together * inverse) ** 2, _MOST)
        density += np.exp(-exponent) * (weight / (growth + inverse))
    density *= half * (2 / math.pi * np.exp(-(v**2) / 2))
    independent: Array = ndtr(-v) + (1 - 2 * ndtr(-v)) * ndtr(-u)
    return independent - density
