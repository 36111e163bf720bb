"""How near the readout comes to learning quadratic and cubic features of the leading directions.

The theory takes what is not linear in the bulk as noise. If the inputs' covariance has a few large
eigenvalues, products of these directions are features of their own, which networks learn, and a
step changes rows along them in proportion to themselves: docs/theory/structured-inputs.md, (20).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.activation_averages import activation_averages
from giantstep.theory.features.coloured_step import coloured_step
from giantstep.theory.features.conditional_features import ConditionalFeatures, mean_inputs


def leading_chaoses(
    problem: Problem,
    srf: SpikedFeatures,
    f: ConditionalFeatures,
    fold: Callable[[Array], Array],
    ridge: Array,
    alpha: Array,
    slopes: Array,
) -> dict[str, Array]:
    """Say how far the theory of inputs with a covariance holds, at S points.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    srf : SpikedFeatures
        Those equivalent to it.
    f, fold
        As in `Reliability`.
    ridge, alpha : Array, shape (S,)
    slopes : Array, shape (S, N')
        The slope of g_out given kappa: 1/(1 + V) for the square loss.
    """
    if not isinstance(problem, Protocol) or not problem.has_covariance:
        return {}
    step = coloured_step(problem)
    count, largest = step.eigenvalues.size, float(step.eigenvalues.max())
    inputs, std = mean_inputs(srf, f.kappa)[0], math.sqrt(float(srf.groups.c[0]))
    third = activation_averages(lookup(srf.activation), inputs, std, 1, 1.0).third
    squares = np.stack([f.curvature[0] ** 2, third**2, f.mu2_squared[0] * f.row_norm])
    two, three, noise = alpha * (fold(squares) @ slopes.T)
    # Without a ridge, slopes are over it: readout.fixed_point.
    L = np.where((ridge == 0) & (alpha < srf.beta), 1.0, ridge) + noise / srf.beta
    return {
        "chi_2": largest**2 / count * two / L,
        "chi_3": largest**3 / count**2 * three / L,
        "chi_rows": 0 * alpha + (2 * step.rate * step.third) ** 2 * step.mean_power(3) / count,
        "effective_dimension": 0 * alpha + count / step.trace(2),
    }
