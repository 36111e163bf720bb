"""How near the readout comes to learning quadratic and cubic features of the leading directions.

The theory takes what is not linear in the bulk as noise. If the inputs' covariance has a few large
eigenvalues, products of these directions are features of their own, which networks learn:
docs/theory/structured-inputs.md, equation (20).
"""

from __future__ import annotations

import math

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.gaussian import gaussian_rule
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.covariance import directions_of
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_features import ConditionalFeatures, mean_inputs
from giantstep.theory.readout.fixed_point import Points, Resolvent


def leading_chaoses(
    problem: Problem, srf: SpikedFeatures, f: ConditionalFeatures, at: Resolvent
) -> dict[str, Array]:
    """Compute chi_2, chi_3 and the effective dimension, of inputs with a covariance, at S points.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    srf : SpikedFeatures
        Those equivalent to it.
    f : ConditionalFeatures
    at : Resolvent
        The solution at the points.
    """
    if not isinstance(problem, Protocol) or not problem.has_covariance:
        return {}
    eigenvalues, _ = directions_of(problem.covariance, problem.target_decay)
    count, largest = eigenvalues.size, float(eigenvalues.max()) / eigenvalues.size
    L = Points.of(at.alpha, at.ridge, srf.beta).ridge + at.V_hat[:, -1]
    chi = {
        f"chi_{order}": count * largest**order * at.alpha * (at.contraction @ f.fold(mu**2)) / L
        for order, mu in ((2, f.curvature[0]), (3, _mean_third(srf, f.kappa)))
    }
    effective = count / float(np.mean(eigenvalues**2))
    return chi | {"effective_dimension": np.full(at.alpha.shape, effective)}


def _mean_third(srf: SpikedFeatures, kappa: Array) -> Array:
    """Compute E sigma''' given kappa, shape (N,), of one group of neurons."""
    shift, std = mean_inputs(srf, kappa)[0], math.sqrt(float(srf.groups.c[0]))
    z, weight = gaussian_rule(lookup(srf.activation), shift, std)
    values = lookup(srf.activation).value(shift[:, None] + std * z)
    return np.asarray(np.sum(weight * (z**3 - 3 * z) * values, axis=-1) / std**3)
