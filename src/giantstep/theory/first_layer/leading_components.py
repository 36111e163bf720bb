"""How near the readout comes to learning quadratic and cubic features of the leading directions.

The theory treats features that are not linear in the bulk as noise. If the inputs' covariance has a
few large eigenvalues, products of these directions are features of their own, which networks learn;
and a step multiplies the rows' components along them: docs/theory/structured-inputs.md, (S19).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.activation_averages import mean_third_derivative
from giantstep.theory.features.conditional_features import (
    ConditionalFeatures,
    NodesOverKappa,
    mean_inputs,
)
from giantstep.theory.first_layer.anisotropic_step import AnisotropicStep

# What `leading_components` returns: a function of alpha, the ridge and slopes.
Estimates = Callable[[Array, Array, Array], dict[str, Array]]


def leading_components(
    step: AnisotropicStep, srf: SpikedFeatures, f: ConditionalFeatures, rule: NodesOverKappa
) -> Estimates:
    """Prepare estimates of how far the theory of inputs with a covariance holds.

    Parameters
    ----------
    step : AnisotropicStep
    srf : SpikedFeatures
        After it.
    f, rule
        As in `MeanFluctuation`.

    Returns
    -------
    callable
        Its arguments at S points: alpha; the ridge (one where slopes are divided by it, see
        `readout.fixed_point.Points`); and the slopes of g_out given kappa, shape (S, N'), which are
        1/(1 + V) for the square loss.
    """
    inputs, std = mean_inputs(srf, f.kappa)[0], math.sqrt(float(srf.groups.c[0]))
    third = mean_third_derivative(lookup(srf.activation), inputs, std)
    squares = rule.fold(np.stack([f.curvature[0] ** 2, third**2, f.mu2_squared[0] * f.row_norm]))
    count, largest = step.eigenvalues.size, float(step.eigenvalues.max())
    rows = (2 * step.rate * step.third) ** 2 * step.mean_power(1, 2) / count

    def estimates(alpha: Array, ridge: Array, slopes: Array) -> dict[str, Array]:
        two, three, noise = alpha * (squares @ slopes.T)
        L = ridge + noise / srf.beta
        return {
            "chi_2": largest**2 / count * two / L,
            "chi_3": largest**3 / count**2 * three / L,
            "chi_rows": np.full(alpha.shape, rows),
            "effective_dimension": np.full(alpha.shape, count / step.trace(2)),
        }

    return estimates
