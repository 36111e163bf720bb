"""Outliers of the features' covariance at finite dimension: theory.md section 8.

An eigenvalue x outside the bulk is a zero of the determinant of the equations for the means, m and
zeta, at the ridge -x. Equation (191) is its limit for eigenvalues of order d.
"""

from __future__ import annotations

import numpy as np

from giantstep.arrays import Array, Mask
from giantstep.problems.problem import Problem
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_features import conditional_features
from giantstep.theory.features.equivalent_features import equivalent_features

# Points of the search, and of the refinement of each zero.
_CANDIDATES, _REFINED = 60, 20
# The search begins above the bulk's edge by this factor, where the iteration converges.
_ABOVE = 1.02
_MAX_ITERATIONS, _TOLERANCE = 2000, 1e-10


def outliers_at(problem: Problem, alpha: float, dimension: float, edge: float) -> Array:
    """Compute the eigenvalues above the bulk at a finite dimension, for the isotropic bulk.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha : float
        Samples over d.
    dimension : float
        d, finite.
    edge : float
        Upper edge of the bulk.

    Returns
    -------
    Array, shape (R,)
        Largest first; those within 2 % of the edge are not told from the bulk.

    Examples
    --------
    >>> from giantstep import SpikedFeatures
    >>> srf = SpikedFeatures("tanh", "sign", 1.2, 1.5, alignment=0.8, beta=0.8)
    >>> outliers_at(srf, 2.0, dimension=1000, edge=3.5).round(0)
    array([716.])
    """
    srf = equivalent_features(problem, dimension)
    equations = _MeansOutsideBulk(srf, alpha, dimension)
    largest = 2 * alpha * dimension * float(np.sum((equations.f.mu0**2) @ equations.f.weight))
    x = np.geomspace(_ABOVE * edge, max(largest, 10 * edge), _CANDIDATES)
    found = []
    values = equations.eigenvalues(x)
    # Far out all eigenvalues are negative. One changes sign at each outlier.
    for k in range(values.shape[1]):
        crossings = np.flatnonzero((values[:-1, k] > 0) & (values[1:, k] < 0))
        for i in crossings[-1:]:
            near = np.linspace(x[i], x[i + 1], _REFINED)
            found.append(float(np.interp(0, -equations.eigenvalues(near)[:, k], near)))
    return np.sort(found)[::-1]


class _MeansOutsideBulk:
    """The linear equations of m and zeta at ridges -x, for x above the bulk."""

    def __init__(self, srf: SpikedFeatures, alpha: float, dimension: float) -> None:
        self.f, self.groups = conditional_features(srf), srf.groups
        self.alpha, self.beta, self.dimension = alpha, srf.beta, dimension
        self.functions = np.concatenate([self.f.mu0, self.f.kappa * self.f.mu1])

    def eigenvalues(self, x: Array) -> Array:
        """Compute those of the symmetric equations, largest first; NaN without a solution."""
        V2, contraction, sound = self._resolvent(x)
        strengths = np.concatenate([-V2, -self.groups.c * V2 / self.dimension], axis=-1)
        weighted = (contraction * self.f.weight)[:, None, :] * self.functions
        size = np.sqrt(np.where(sound[:, None], strengths, 1.0))
        matrix = self.alpha * self.dimension * weighted @ self.functions.T
        matrix = size[:, :, None] * matrix * size[:, None, :] - np.eye(size.shape[-1])
        values: Array = np.linalg.eigvalsh(matrix)[:, ::-1]
        values[~sound] = np.nan
        return values

    def _resolvent(self, x: Array) -> tuple[Array, Array, Mask]:
        """Iterate the equations of theory.md section 4; V2, 1/(1 + V), and whether they hold."""
        f, (c, _, pi, _), ratio = self.f, self.groups, self.alpha / self.beta
        identity, q = np.eye(c.size), np.repeat(-1 / x[:, None], c.size, axis=1)
        V1, sound = (pi * c * q)[:, :, None] * identity, np.zeros(x.size, dtype=bool)
        for _ in range(_MAX_ITERATIONS):
            V = (
                np.einsum("gn,hn,sgh->sn", f.mu1, f.mu1, V1, optimize=True)
                + (pi * q) @ f.mu2_squared
            )
            contraction = 1 / (1 + V)
            weighted = ratio * contraction * f.weight
            V1_hat = (weighted[:, None, :] * f.mu1) @ f.mu1.T
            D = (pi * c * q)[:, :, None] * identity
            inverse = np.linalg.inv(identity + self.beta * D @ V1_hat)
            load = c * np.einsum("sgh,shg->sg", V1_hat, inverse)
            new = 1 / (weighted @ f.mu2_squared.T - x[:, None] + load)
            sound = np.max(np.abs(new / q - 1), axis=-1) < _TOLERANCE
            if np.all(sound):
                break
            q, V1 = (q + new) / 2, (V1 + inverse @ D) / 2
        return pi * q, contraction, sound & np.all(q < 0, axis=-1)
