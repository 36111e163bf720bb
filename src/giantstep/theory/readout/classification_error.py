"""The 0-1 error: how often the sign of the prediction differs from a sign target."""

from __future__ import annotations

import math

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.contraction import contract
from giantstep.numerics.gaussian import opposite_signs
from giantstep.numerics.linear_systems import TINY
from giantstep.numerics.scalar_functions import BINARY, SIGN, lookup
from giantstep.numerics.transitions import Transition
from giantstep.problems.overlaps import Overlaps
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_features import (
    conditional_moments,
    is_mirrored,
    mean_of_class,
)
from giantstep.theory.features.conditional_target import sign_threshold
from giantstep.theory.features.kappa_rules import fewest_nodes

# Width of panels over kappa, in units of what varies: errors are accurate to 1e-5 of themselves.
_PANEL = 1.5
# Nodes of less weight are left out; where the target's mean is so many standard deviations from
# zero, the label is certain.
_NEGLIGIBLE, _CERTAIN = 1e-13, 38.0
# Points of similar widths that have one rule, and whose arrays stay in the processor's cache.
_AT_ONCE = 500
# Projections between which predictions are nearly a straight line.
_NEAR = 1e-3


def classification_error(srf: SpikedFeatures, overlaps: Overlaps) -> Array:
    """Compute P(y omega < 0) for labels of +1 and -1; NaN for any other target or several spikes.

    Given kappa, omega and the input's projection z on the target are jointly Gaussian: omega has
    mean M and variance Q, and the covariance P with z (theory.md section 6).

    Parameters
    ----------
    srf : SpikedFeatures
    overlaps : Overlaps

    Returns
    -------
    Array, shape (...)

    Examples
    --------
    >>> from giantstep import SpikedFeatures
    >>> from giantstep.problems.grid import Grid
    >>> from giantstep.theory.readout.solve import solve
    >>> srf = SpikedFeatures("tanh", "sign", 1.2, spike_strength=2, alignment=0.9, beta=1)
    >>> solution = solve(srf, Grid(alpha=(1.0, 4.0), ridge=(0.1,)))
    >>> classification_error(srf, Overlaps.of(solution)).round(3)
    array([[0.148],
           [0.119]])
    """
    shape = overlaps.m.shape[:-1]
    if srf.target not in BINARY or srf.further_spikes:
        return np.full(shape, np.nan)
    overlaps = overlaps.flatten()
    widths = _uncertain_widths(srf, overlaps)
    errors, order = np.empty(widths.shape), np.argsort(widths)
    for alike in np.array_split(order, max(1, math.ceil(order.size / _AT_ONCE))):
        some = Overlaps(*(x if x is None else x[alike] for x in overlaps))  # type: ignore[arg-type]
        errors[alike] = _on_one_rule(srf, some, float(np.fmin(widths[alike[0]], 1.0)))
    return errors.reshape(shape)


def _on_one_rule(srf: SpikedFeatures, overlaps: Overlaps, width: float) -> Array:
    """Compute the errors of S points on a rule that resolves a width in kappa, shape (S,)."""
    of_predictions = Transition(lookup(SIGN), np.array(mean_of_class(srf)[0]), 1.0, width)
    kappa, weight = fewest_nodes(srf, 1, _PANEL, of_predictions)
    folded = is_mirrored(srf, kappa)  # the same at -kappa
    kept = (weight > _NEGLIGIBLE) & ((kappa > 0) | (not folded))
    kappa, weight = kappa[kept], weight[kept] * (2 if folded else 1)
    mean, slope, variance = _given_kappa(srf, overlaps, kappa)
    v = np.clip(sign_threshold(srf, kappa), -_CERTAIN, _CERTAIN)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # failed points hold NaN
        std = np.sqrt(np.maximum(variance, TINY))  # where neurons saturate it is zero
        return opposite_signs(mean / std, v, slope / std) @ weight


def _uncertain_widths(srf: SpikedFeatures, overlaps: Overlaps) -> Array:
    """Estimate the width in kappa in which the sign of predictions is uncertain.

    Predictions change their sign about where the input has no projection on the spike.
    """
    near = np.array([-_NEAR, _NEAR]) - mean_of_class(srf)[0]
    mean, _, variance = _given_kappa(srf, overlaps, near)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # failed points hold NaN
        slope = np.abs(mean[:, 1] - mean[:, 0]) / (2 * _NEAR)
        return np.sqrt(variance.mean(axis=1)) / slope


def _given_kappa(
    srf: SpikedFeatures, overlaps: Overlaps, kappa: Array
) -> tuple[Array, Array, Array]:
    """Compute M, P and Q of theory.md section 6, each of shape (S, N)."""
    mu0, mu1, mu2_squared, curvature = conditional_moments(srf, kappa)
    on_spike, across = mean_of_class(srf)
    xi = np.zeros_like(overlaps.m) if overlaps.xi is None else overlaps.xi
    means = np.concatenate([overlaps.m, overlaps.zeta, overlaps.psi, xi], axis=1)
    mean = means @ np.concatenate([mu0, (on_spike + kappa) * mu1, across * mu1, curvature])
    products, q1 = mu1[:, None] * mu1, overlaps.q1.reshape(len(overlaps.q1), -1)
    squares = np.concatenate([products.reshape(-1, kappa.size), mu2_squared])
    variance = np.concatenate([q1, overlaps.q2], axis=1) @ squares
    return mean, contract("sk,kn->sn", overlaps.psi, mu1), variance
