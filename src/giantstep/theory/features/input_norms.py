"""What the norms of inputs do to the mean features at finite dimension: theory.md section 12.

A neuron's input has variance `c |x|^2/d` given x. Given kappa, `|x|^2/d - 1` has mean
`(kappa^2 - 1)/d`, summed over the directions of several spikes, and variance `2/d`. It moves the
mean feature mu0 of a group by `nu = (c/2) E sigma''` times as much.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_features import ConditionalFeatures, mean_curvatures


def with_input_norms(
    f: ConditionalFeatures, srf: SpikedFeatures, dimension: float, fineness: float = 1
) -> ConditionalFeatures:
    """Add the effects of the inputs' norms to the mean features.

    As d -> infinity there are none. They are left out for activations that jump, which have no
    second derivative.

    Parameters
    ----------
    f : ConditionalFeatures
    srf : SpikedFeatures
        Those of the features.
    dimension : float
        d, may be infinite.
    fineness : float
        Multiplies the number of nodes.
    """
    if np.isinf(dimension) or not lookup(srf.activation).continuous:
        return f
    nu = srf.groups.c[:, None] / 2 * mean_curvatures(srf, f.kappa, fineness, f.beside)
    mu0 = f.mu0 + nu * np.sum(f.projections**2 - 1, axis=0) / dimension
    return replace(f, mu0=mu0, mean_spread=nu * np.sqrt(2 / dimension))
