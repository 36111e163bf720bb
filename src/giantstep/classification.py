"""How often a network gives an input of a sign target the other sign: the 0-1 error."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from giantstep.activations import Array
from giantstep.features import curvatures, kappa_rule, student
from giantstep.learning import Solution
from giantstep.protocol import Problem
from giantstep.pulls import teacher_rule
from giantstep.srf import equivalent_features

# What has labels of +1 and -1.
SIGN = "sign"
# Points x nodes held at once.
_ENTRIES = 4_000_000


def classification_error(problem: Problem, solution: Solution) -> Array:
    """Compute P(y omega < 0) for a target `sign`; NaN for another target.

    Given kappa and z, omega is Gaussian of mean M + P z and variance Q - P^2, theory.md section 6.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    solution : Solution
        Of this problem, with overlaps of shape (..., G).

    Returns
    -------
    Array, shape (...)
    """
    srf, shape, groups = (
        equivalent_features(problem),
        solution.test_error.shape,
        solution.m.shape[-1],
    )
    if srf.target != SIGN:
        return np.full(shape, np.nan)
    m, zeta, psi, q2 = (
        values.reshape(-1, groups)
        for values in (solution.m, solution.zeta, solution.psi, solution.q2)
    )
    kappa, weight = kappa_rule(srf)
    mu0, mu1, mu2_squared = student(srf, kappa)
    mean, slope = m @ mu0 + zeta @ (kappa * mu1), psi @ mu1
    if np.any(solution.xi):
        mean = mean + solution.xi.reshape(-1, groups) @ curvatures(srf, kappa)
    q1 = solution.q1.reshape(-1, groups, groups)
    own = np.einsum("sgh,gn,hn->sn", q1, mu1, mu1, optimize=True) + q2 @ mu2_squared
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
