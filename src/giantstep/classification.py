"""How often a network gives an input of a sign target the other sign: the 0-1 error."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from giantstep.activations import Array
from giantstep.features import curvatures, kappa_rule, student
from giantstep.protocol import SpikedFeatures
from giantstep.pulls import teacher_rule

# What has labels of +1 and -1.
SIGN = "sign"
# Points x nodes held at once.
_ENTRIES = 4_000_000


def classification_error(
    srf: SpikedFeatures,
    overlaps: tuple[Array, Array, Array, Array, Array],
    xi: Array | None = None,
) -> Array:
    """Compute P(y omega < 0) for a target `sign`; NaN for another target.

    Given kappa and z, omega is Gaussian of mean M + P z and variance Q - P^2, theory.md section 6.

    Parameters
    ----------
    srf : SpikedFeatures
    overlaps : tuple of Array
        m, zeta, psi, of shape (..., G), q1, of shape (..., G, G), and q2, of shape (..., G).
    xi : Array, shape (..., G), optional
        Overlaps with the change of the neurons' norms; by default none.

    Returns
    -------
    Array, shape (...)
    """
    m, zeta, psi, q1, q2 = overlaps
    shape, groups = m.shape[:-1], m.shape[-1]
    if srf.target != SIGN:
        return np.full(shape, np.nan)
    kappa, weight = kappa_rule(srf)
    mu0, mu1, mu2_squared = student(srf, kappa)
    mean = m.reshape(-1, groups) @ mu0 + zeta.reshape(-1, groups) @ (kappa * mu1)
    if xi is not None and np.any(xi):
        mean = mean + xi.reshape(-1, groups) @ curvatures(srf, kappa)
    slope = psi.reshape(-1, groups) @ mu1
    own = np.einsum("sgh,gn,hn->sn", q1.reshape(-1, groups, groups), mu1, mu1, optimize=True)
    own += q2.reshape(-1, groups) @ mu2_squared
    rule = teacher_rule(srf, kappa)
    error = np.empty(mean.shape[0])
    step = max(1, _ENTRIES // rule.z.size)
    with np.errstate(invalid="ignore", divide="ignore"):  # points that failed hold NaN
        std = np.sqrt(own - slope**2)
        for start in range(0, error.size, step):
            part = slice(start, start + step)
            margin = rule.labels * (mean[part, :, None] + slope[part, :, None] * rule.z)
            wrong = np.einsum("snz,nz->sn", ndtr(-margin / std[part, :, None]), rule.weight)
            error[part] = wrong @ weight
    return error.reshape(shape)
