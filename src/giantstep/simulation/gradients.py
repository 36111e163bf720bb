"""Gradients of the first layer: of an actual batch, or of the population."""

from __future__ import annotations

import math

import numpy as np

from giantstep.arrays import Array, Reals
from giantstep.numerics.function_table import ScalarFunction
from giantstep.numerics.gaussian import hermite_coefficients, self_gradient
from giantstep.problems.convex_losses import Loss
from giantstep.problems.losses import LOSSES, SQUARE
from giantstep.validation import refusal

# Random rows overlap by more than this only in very low dimensions. There the power series in the
# overlap would need degrees that quadrature does not resolve.
LARGEST_OVERLAP = 0.75
# Rows whose overlaps with all others are in memory at once.
_BLOCK = 512
_PRECISION = 1e-14


def batch_slopes(
    weights: Reals,
    omega: Reals,
    activation: ScalarFunction,
    inputs: Reals,
    labels: Reals,
    loss: Loss = LOSSES[SQUARE],
) -> Reals:
    """Compute `omega_i (-dl/df) sigma'(w_i.x)` over a batch; theory.md sections 1 and 25.

    Multiplied with the inputs and summed over the batch, they are minus p times the gradient of
    the loss, which is `omega_i (y - f(x)) sigma'(w_i.x)` for the square.

    Parameters
    ----------
    weights : Reals, shape (p, d)
        Rows of the first layer.
    omega : Reals, shape (p,)
        The readout times sqrt(p): `f0(x) = sum_i omega_i sigma(w_i.x)/p`.
    activation : ScalarFunction
    inputs : Reals, shape (n, d)
    labels : Reals, shape (n,)
    loss : Loss

    Returns
    -------
    Reals, shape (n, p)
    """
    features = inputs @ weights.T
    slopes: Reals = activation.derivative(features).astype(features.dtype, copy=False)
    activation.apply(features)
    # The types of arrays in single precision are those of double precision to the loss.
    slopes *= loss.pull(labels, features @ omega / omega.size)[0][:, None]  # type: ignore[arg-type]
    slopes *= omega
    return slopes


def population_gradient(
    weights: Array, omega: Array, activation: ScalarFunction, target: ScalarFunction, theta: Array
) -> Array:
    """Compute `E omega_i (y - f0(x)) sigma'(w_i.x) x` over x ~ N(0, I_d), exactly.

    By Stein's lemma `E g(u.x) sigma'(w.x) x = u E g' sigma' + w E g sigma''`, for g the target
    along theta or the activation along another row. By Mehler's formula both expectations are
    power series in the overlap u.w, with coefficients from the Hermite coefficients of g and
    sigma. Label noise averages out.

    Parameters
    ----------
    weights : Array, shape (p, d)
        Rows of unit norm.
    omega : Array, shape (p,)
        The readout times sqrt(p), as in `batch_slopes`.
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
    gradient = np.empty_like(weights)
    for start in range(0, weights.shape[0], _BLOCK):
        rows = slice(start, start + _BLOCK)
        gradient[rows] = _population_rows(weights, rows, omega, activation, target, theta)
    gradient *= omega[:, None]
    return gradient


def _population_rows(
    weights: Array,
    rows: slice,
    omega: Array,
    activation: ScalarFunction,
    target: ScalarFunction,
    theta: Array,
) -> Array:
    """Compute `E (y - f0(x)) sigma'(w_i.x) x` for some of the rows."""
    own_rows = weights[rows]
    on_target, among = own_rows @ theta, own_rows @ weights.T
    itself = np.arange(own_rows.shape[0]), np.arange(own_rows.shape[0]) + rows.start
    among[itself] = 0
    largest = max(float(np.abs(overlaps).max()) for overlaps in (on_target, among))
    if largest > LARGEST_OVERLAP:
        allowed = f"larger: two random rows overlap by {largest:.2f}, above {LARGEST_OVERLAP}"
        raise refusal("dimension", theta.size, allowed)
    # As many Hermite coefficients as the power series need.
    degree = series_degree(largest) + 2
    student, teacher = (hermite_coefficients(f, degree) for f in (activation, target))
    along_other, along_own = _stein_series(teacher, student)
    gradient = np.outer(along_other(on_target), theta)
    own = along_own(on_target)
    # Subtract the network's output f0, a mean over rows; a row's own output is a case of its own.
    along_other, along_own = _stein_series(student, student)
    others = along_other(among) * omega
    others[itself] = self_gradient(activation) * omega[rows]
    gradient -= others @ weights / omega.size
    from_others = along_own(among) * omega
    from_others[itself] = 0
    own -= from_others.sum(axis=1) / omega.size
    gradient += own[:, None] * own_rows
    return gradient


def series_degree(largest: float) -> int:
    """Choose the degree at which the power series in overlaps up to `largest` have converged."""
    return max(4, math.ceil(math.log(_PRECISION) / math.log(max(largest, 1e-3))))


def _stein_series(
    outer: Array, inner: Array
) -> tuple[np.polynomial.Polynomial, np.polynomial.Polynomial]:
    """Expand `E g'(s) sigma'(t)` and `E g(s) sigma''(t)` in powers of the overlap of s and t.

    Parameters
    ----------
    outer, inner : Array
        Normalised Hermite coefficients of g and of sigma.
    """
    k = np.arange(outer.size - 2)
    along_other = (k + 1) * outer[1:-1] * inner[1:-1]
    along_own = np.sqrt((k + 1) * (k + 2)) * outer[:-2] * inner[2:]
    return np.polynomial.Polynomial(along_other), np.polynomial.Polynomial(along_own)
