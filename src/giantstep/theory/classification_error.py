"""The 0-1 error: how often the sign of the prediction differs from a sign target."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from giantstep.arrays import Array
from giantstep.numerics.scalar_functions import SIGN
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.conditional_features import (
    conditional_moments,
    kappa_rule,
    mean_curvatures,
    teacher_rule,
)

# Entries of an array computed at once.
_ENTRIES = 4_000_000


class ReadoutOverlaps(NamedTuple):
    """The overlaps that determine the law of a prediction, as in a `Solution`.

    Attributes
    ----------
    m, zeta, psi, q2, xi : Array, shape (..., G)
    q1 : Array, shape (..., G, G)
    """

    m: Array
    zeta: Array
    psi: Array
    q1: Array
    q2: Array
    xi: Array


def classification_error(srf: SpikedFeatures, of: ReadoutOverlaps) -> Array:
    """Compute P(y omega < 0) for the target `sign`; NaN for any other target.

    Given kappa and z, omega is Gaussian with mean M + P z and variance Q - P^2 (theory.md,
    section 6).

    Parameters
    ----------
    srf : SpikedFeatures
    of : ReadoutOverlaps

    Returns
    -------
    Array, shape (...)

    Examples
    --------
    >>> from giantstep import Grid, SpikedFeatures, solve
    >>> srf = SpikedFeatures("tanh", "sign", 1.2, spike_strength=2, alignment=0.9, beta=1)
    >>> found = solve(srf, Grid(alpha=(1.0, 4.0), ridge=(0.1,)))
    >>> overlaps = ReadoutOverlaps(*(getattr(found, name) for name in ReadoutOverlaps._fields))
    >>> classification_error(srf, overlaps).round(3)
    array([[0.148],
           [0.119]])
    """
    shape = of.m.shape[:-1]
    if srf.target != SIGN:
        return np.full(shape, np.nan)
    kappa, weight = kappa_rule(srf)
    mean, slope, variance = _given_kappa(
        srf, ReadoutOverlaps(*(x.reshape(-1, *x.shape[len(shape) :]) for x in of)), kappa
    )
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
    srf: SpikedFeatures, of: ReadoutOverlaps, kappa: Array
) -> tuple[Array, Array, Array]:
    """Compute M, P and Q of theory.md section 6, each of shape (S, N)."""
    mu0, mu1, mu2_squared = conditional_moments(srf, kappa)
    mean = of.m @ mu0 + of.zeta @ (kappa * mu1)
    if np.any(of.xi):
        mean = mean + of.xi @ mean_curvatures(srf, kappa)
    variance = np.einsum("sgh,gn,hn->sn", of.q1, mu1, mu1, optimize=True)
    return mean, of.psi @ mu1, variance + of.q2 @ mu2_squared
