"""The first layer after one gradient step: an actual batch, or the population gradient."""

from __future__ import annotations

import math

import numpy as np

from giantstep.activations import Array, ScalarFunction
from giantstep.faults import Fault, InvalidParametersError
from giantstep.gaussian import expectation, hermite_coefficients

# Overlaps of random rows stay below this but in a handful of dimensions, where the series in
# powers of the overlap would need degrees that quadrature does not resolve.
LARGEST_OVERLAP = 0.75
_PRECISION = 1e-14


def batch_gradient(
    weights: Array, omega: Array, activation: ScalarFunction, inputs: Array, labels: Array
) -> Array:
    """Sum `omega_i (y - f0(x)) sigma'(w_i.x) x` over a batch; theory.md section 1.

    Parameters
    ----------
    weights : Array, shape (p, d)
        Rows of the first layer.
    omega : Array, shape (p,)
        The readout times sqrt(p): `f0(x) = sum_i omega_i sigma(w_i.x)/p`.
    activation : ScalarFunction
    inputs : Array, shape (n, d)
    labels : Array, shape (n,)

    Returns
    -------
    Array, shape (p, d)
    """
    preactivations = inputs @ weights.T
    error = labels - activation.value(preactivations) @ omega / omega.size
    slopes = activation.derivative(preactivations)
    slopes *= error[:, None] * omega
    gradient: Array = slopes.T @ inputs
    return gradient


def population_gradient(
    weights: Array, omega: Array, activation: ScalarFunction, target: ScalarFunction, theta: Array
) -> Array:
    """Compute `E omega_i (y - f0(x)) sigma'(w_i.x) x` over x ~ N(0, I_d), exactly.

    By Stein's lemma `E g(u.x) sigma'(w.x) x = u E g' sigma' + w E g sigma''`, for g the target
    along theta or the activation along another row; by Mehler's formula both expectations are
    power series in the overlap u.w, from the Hermite coefficients of g and sigma. Label noise
    averages out.

    Parameters
    ----------
    weights : Array, shape (p, d)
        Rows of unit norm.
    omega : Array, shape (p,)
        The readout times sqrt(p), as in `batch_gradient`.
    activation, target : ScalarFunction
    theta : Array, shape (d,)
        The target's direction, of unit norm.

    Returns
    -------
    Array, shape (p, d)

    Raises
    ------
    InvalidParametersError
        If two rows, or a row and theta, overlap by more than `LARGEST_OVERLAP`.
    """
    p = weights.shape[0]
    on_target, among = weights @ theta, weights @ weights.T
    np.fill_diagonal(among, 0)
    largest = max(np.abs(on_target).max(), np.abs(among).max())
    if largest > LARGEST_OVERLAP:
        allowed = f"larger: two random rows overlap by {largest:.2f}, above {LARGEST_OVERLAP}"
        raise InvalidParametersError([Fault("dimension", theta.size, allowed)])
    degree = max(4, math.ceil(math.log(_PRECISION) / math.log(max(largest, 1e-3))))
    student, teacher = (hermite_coefficients(f, degree + 2) for f in (activation, target))
    along, own = _stein_series(teacher, student)
    gradient = np.outer(along(on_target), theta) + own(on_target)[:, None] * weights
    # Minus the network's own output f0, a mean over rows; of a row with itself, below.
    along, own = _stein_series(student, student)
    slopes, bends = along(among) * omega, own(among) * omega
    np.fill_diagonal(slopes, self_gradient(activation) * omega)
    np.fill_diagonal(bends, 0)
    gradient -= (slopes @ weights + bends.sum(axis=1)[:, None] * weights) / p
    gradient *= omega[:, None]
    return gradient


def _stein_series(
    outer: Array, inner: Array
) -> tuple[np.polynomial.Polynomial, np.polynomial.Polynomial]:
    """Give `E g'(s) sigma'(t)` and `E g(s) sigma''(t)` as power series in the overlap of s and t.

    `outer` and `inner` are normalised Hermite coefficients of g and sigma.
    """
    k = np.arange(outer.size - 2)
    along = (k + 1) * outer[1:-1] * inner[1:-1]
    own = np.sqrt((k + 1) * (k + 2)) * outer[:-2] * inner[2:]
    return np.polynomial.Polynomial(along), np.polynomial.Polynomial(own)


def self_gradient(activation: ScalarFunction) -> float:
    """Compute E z sigma(z) sigma'(z), what a unit row's own output adds to its gradient."""
    return expectation(activation, lambda z: z * activation.value(z) * activation.derivative(z))
