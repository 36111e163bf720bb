"""Gradients of the first layer: of an actual batch, or of the population."""

from __future__ import annotations

import math

import numpy as np

from giantstep.arrays import Array, Reals
from giantstep.numerics.function_table import ScalarFunction
from giantstep.numerics.gaussian import hermite_coefficients, hermite_polynomials
from giantstep.numerics.quadrature import split_rule, unit_edges
from giantstep.problems.convex_losses import Loss
from giantstep.problems.losses import LOSSES, SQUARE
from giantstep.problems.teachers import Powers, Teacher
from giantstep.validation import refusal

# Quadrature resolves Hermite coefficients up to this degree. For smooth activations they are then
# rounding; for one with a corner, the rest of the series in this overlap of rows is below 1e-4.
_LARGEST_DEGREE, _LARGEST_OVERLAP = 150, 0.95
# From normalised Hermite coefficients to means of derivatives.
_FACTORS = np.array([math.sqrt(math.factorial(k)) for k in range(_LARGEST_DEGREE + 3)])
# Of the power series, relative.
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
    features[...] = activation.value(features)
    # The types of arrays in single precision are those of double precision to the loss.
    slopes *= loss.residual_and_curvature(labels, features @ omega / omega.size)[0][:, None]  # type: ignore[arg-type]
    slopes *= omega
    return slopes


def population_gradient(
    weights: Array,
    norms: Array,
    omega: Array,
    activation: ScalarFunction,
    target: ScalarFunction | Teacher,
    directions: Array,
) -> Array:
    """Compute `E omega_i (y - f(x)) sigma'(w_i.x) x` over x ~ N(0, I_d), exactly.

    By Stein's lemma `E g(u.x) h(v.x) x = u E g' h + v E g h'`, for g the target or the activation
    along another row. By Mehler's formula both expectations are power series in the overlap of unit
    rows u and v, with the Hermite coefficients of g and of `sigma(|w_i| z)`.

    Parameters
    ----------
    weights : Array, shape (p, d)
    norms : Array, shape (p,)
        Of the rows: one at initialisation.
    omega : Array, shape (p,)
        The readout times sqrt(p).
    activation : ScalarFunction
    target : ScalarFunction or Teacher
    directions : Array, shape (D, d)
        The target's, orthonormal.

    Returns
    -------
    Array, shape (p, d)

    Raises
    ------
    InvalidParametersError
        If two rows, or a row and a direction, overlap by more than 0.95.
    """
    units = weights / norms[:, None]
    on_target = np.stack([units @ direction for direction in directions], axis=1)
    among = units @ units.T
    np.fill_diagonal(among, 0)
    largest = max(float(np.abs(values).max()) for values in (on_target, among))
    if largest > _LARGEST_OVERLAP:
        large = f"two rows overlap by {largest:.2f}, above {_LARGEST_OVERLAP}"
        raise refusal("alpha0", math.inf, f"finite: {large}")
    converged = math.ceil(math.log(_PRECISION) / math.log(max(largest, 1e-3)))
    degree = min(_LARGEST_DEGREE, max(4, converged))
    if isinstance(target, ScalarFunction):
        found = hermite_coefficients(target, degree) / _FACTORS[: degree + 1]
        terms: dict[Powers, float] = {(k,): term for k, term in enumerate(found.tolist())}
        target = Teacher(target.name, terms, target.value, is_polynomial=True)
    student, own = _row_coefficients(activation, norms, max(degree, target.degree + 2))
    derivatives = student * _FACTORS[: len(student), None]
    along_target, along_row = target.mean_gradient(derivatives, on_target)
    # Subtract the network's output, a mean over rows; a row's own part is a case of its own.
    along_others, from_others = _output_series(student, omega, among)
    gradient: Array = along_target @ directions - along_others @ units / omega.size
    along_row -= (from_others + own * omega) / omega.size
    gradient += along_row[:, None] * units
    gradient *= (omega / norms)[:, None]
    return gradient


def _row_coefficients(activation: ScalarFunction, norms: Array, degree: int) -> tuple[Array, Array]:
    """Compute normalised Hermite coefficients of sigma(s z) for each norm s, and the own output.

    Returns
    -------
    coefficients : Array, shape (degree + 1, p)
    own : Array, shape (p,)
        E z sigma(s z) s sigma'(s z).
    """
    kinks = np.array(activation.kinks or (0.0,))
    z, weights = split_rule(unit_edges(kinks / norms[:, None]))
    points = norms[:, None] * z
    weighted = weights * activation.value(points)
    own = norms * np.sum(weighted * z * activation.derivative(points), axis=1)
    projections = [np.sum(weighted * He, axis=1) for He in hermite_polynomials(z, degree)]
    return np.array(projections), own


def _output_series(student: Array, readouts: Array, overlaps: Array) -> tuple[Array, Array]:
    """Sum `E g'(s) h'(t)` and `E g(s) h''(t)` over powers of the overlaps, times readouts.

    Here h is of each row, and g of each other row.

    Parameters
    ----------
    student : Array, shape (K, p)
        Hermite coefficients.
    readouts : Array, shape (p,)
    overlaps : Array, shape (p, p)

    Returns
    -------
    along_others : Array, shape (p, p)
        `readout_j E g_j'(s) h_i'(t)`, without i = j.
    from_others : Array, shape (p,)
        The sum over j of `readout_j E g_j(s) h_i''(t)`.
    """
    along_others, from_others = np.zeros_like(overlaps), np.zeros(len(overlaps))
    power = 1.0 - np.eye(len(overlaps))
    for k in range(len(student) - 2):
        slopes = math.sqrt(k + 1) * student[k + 1]
        along_others += power * slopes[:, None] * (slopes * readouts)
        twice = math.sqrt((k + 1) * (k + 2)) * student[k + 2]
        from_others += twice * (power @ (student[k] * readouts))
        power *= overlaps
    return along_others, from_others
