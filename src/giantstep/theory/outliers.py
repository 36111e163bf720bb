"""Outliers of the features' covariance at finite dimension: theory.md section 8.

An eigenvalue x outside the bulk is a zero of the determinant of the equations for the means, m and
zeta, at the ridge -x. Equation (191) is its limit for eigenvalues of order d.
"""

from __future__ import annotations

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.problem import Problem
from giantstep.theory.spectral_density import SpectralDensity

# Points of the search, and of the refinement of each zero.
_CANDIDATES, _REFINED = 60, 20
# The search begins above the bulk's edge by this factor.
_ABOVE = 1.02


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
        Largest first; those within 2 % of the edge cannot be told from the bulk.

    Examples
    --------
    >>> from giantstep import SpikedFeatures
    >>> srf = SpikedFeatures("tanh", "sign", 1.2, 1.5, alignment=0.8, beta=0.8)
    >>> outliers_at(srf, 2.0, dimension=1000, edge=3.5).round(0)
    array([716.])
    """
    density = SpectralDensity(problem, alpha, dimension=dimension)
    f = density.features
    largest = 2 * alpha * dimension * float(np.sum((f.mu0**2) @ f.weight))
    x = np.geomspace(_ABOVE * edge, max(largest, 10 * edge), _CANDIDATES)
    outliers = []
    values = _eigenvalues(density, dimension, x)
    # Far out all eigenvalues are negative. One changes sign at each outlier.
    for k in range(values.shape[1]):
        crossings = np.flatnonzero((values[:-1, k] > 0) & (values[1:, k] < 0))
        for i in crossings[-1:]:
            near = np.linspace(x[i], x[i + 1], _REFINED)
            on_fine = _eigenvalues(density, dimension, near)[:, k]
            outliers.append(float(np.interp(0, -on_fine, near)))
    return np.sort(outliers)[::-1]


def _eigenvalues(density: SpectralDensity, dimension: float, x: Array) -> Array:
    """Compute the eigenvalues of the equations for m and zeta at ridges -x, largest first.

    NaN where the equations for V have no solution.
    """
    f, equations = density.on_path, density.equations
    with np.errstate(all="ignore"):
        V = density.variances(x).real
    V2 = V[:, equations.triangle.size :]
    sound = np.all(V2 < 0, axis=-1)
    functions = np.concatenate([f.mu0, *(kappa * f.mu1 for kappa in f.projections)])
    products = f.fold(functions[:, None] * functions)
    contraction = 1 / (1 + (V * equations.multiplicity) @ equations.coefficients)
    matrix = density.alpha * dimension * np.einsum("sn,ijn->sij", contraction, products).real
    along = [-density.srf.groups.c * V2 / dimension] * len(f.projections)
    strengths = np.concatenate([-V2, *along], axis=-1)
    size = np.sqrt(np.where(sound[:, None], strengths, 1.0))
    matrix = size[:, :, None] * matrix * size[:, None, :] - np.eye(size.shape[-1])
    values: Array = np.linalg.eigvalsh(np.where(sound[:, None, None], matrix, 0.0))[:, ::-1]
    values[~sound] = np.nan
    return values
