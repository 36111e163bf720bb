"""The 0-1 error: how often the sign of the prediction differs from a sign target."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from giantstep.arrays import Array
from giantstep.numerics.scalar_functions import SIGN
from giantstep.problems.overlaps import Overlaps
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.conditional_features import (
    conditional_moments,
    kappa_rule,
    mean_curvatures,
)
from giantstep.theory.conditional_target import teacher_rule

# Entries of an array computed at once.
_ENTRIES = 4_000_000


def classification_error(srf: SpikedFeatures, overlaps: Overlaps) -> Array:
    """Compute P(y omega < 0) for the target `sign`; NaN for any other target.

    Given kappa and z, omega is Gaussian with mean M + P z and variance Q - P^2 (theory.md,
    section 6).

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
    >>> from giantstep.theory.solve import solve
    >>> srf = SpikedFeatures("tanh", "sign", 1.2, spike_strength=2, alignment=0.9, beta=1)
    >>> found = solve(srf, Grid(alpha=(1.0, 4.0), ridge=(0.1,)))
    >>> classification_error(srf, Overlaps.of(found)).round(3)
    array([[0.148],
           [0.119]])
    """
    shape = overlaps.m.shape[:-1]
    if srf.target != SIGN:
        return np.full(shape, np.nan)
    kappa, weight = kappa_rule(srf)
    mean, slope, variance = _given_kappa(srf, overlaps.flatten(), kappa)
    rule = teacher_rule(srf, kappa)
    error = np.empty(mean.shape[0])
    step = max(1, _ENTRIES // rule.z.size)
    with np.errstate(invalid="ignore", divide="ignore"):  # points that failed hold NaN
        std = np.sqrt(variance - slope**2)
        for start in range(0, error.size, step):
            part = slice(start, start + step)
            margin = rule.labels * (mean[part, :, None] + slope[part, :, None] * rule.z)
            wrong = np.einsum("snz,nz->sn", ndtr(-margin / std[part, :, None]), rule.weight)
            error[part] = wrong @ weight
    return error.reshape(shape)


def _given_kappa(
    srf: SpikedFeatures, overlaps: Overlaps, kappa: Array
) -> tuple[Array, Array, Array]:
    """Compute M, P and Q of theory.md section 6, each of shape (S, N)."""
    mu0, mu1, mu2_squared = conditional_moments(srf, kappa)
    mean = overlaps.m @ mu0 + overlaps.zeta @ (kappa * mu1)
    if overlaps.xi is not None and np.any(overlaps.xi):
        mean = mean + overlaps.xi @ mean_curvatures(srf, kappa)
    variance = np.einsum("sgh,gn,hn->sn", overlaps.q1, mu1, mu1, optimize=True)
    return mean, overlaps.psi @ mu1, variance + overlaps.q2 @ mu2_squared
