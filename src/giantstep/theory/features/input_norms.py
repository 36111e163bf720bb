"""What the norms of inputs do to the mean features at finite dimension: theory.md section 12.

A neuron's input has variance `c |x|^2/d` given x. Given kappa, `|x|^2/d - 1` has mean
`(kappa^2 - 1)/d`, summed over the directions of several spikes, and variance `2/d`. It moves the
mean feature mu0 of a group by `nu = (c/2) E sigma''` times as much. For a bulk of covariance D/d it
is v.Dv/d and tr D^2/d in place of c and c^2.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_features import ConditionalFeatures


def with_input_norms(
    f: ConditionalFeatures,
    srf: SpikedFeatures,
    dimension: float,
    row_power: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0),
) -> ConditionalFeatures:
    """Add the effects of the inputs' norms to the mean features.

    As d -> infinity there are none.

    Parameters
    ----------
    f : ConditionalFeatures
    srf : SpikedFeatures
        Those of the features.
    dimension : float
        d, may be infinite.
    row_power : tuple of float
        As `FirstLayer.row_power` returns it: for a bulk that is not isotropic, the coefficients of
        the variance of rows along an input, over c, in kappa, and tr D^2/d over c^2.
    """
    if np.isinf(dimension) or not f.curvature.any():
        return f
    nu, (own, mixed, along, squared) = srf.groups.c[:, None] / 2 * f.curvature, row_power
    longer = along * np.sum(f.projections**2 - 1, axis=0) + mixed * f.kappa + own
    mu0 = f.mu0 + nu * longer / dimension
    return replace(f, mu0=mu0, mean_spread=nu * np.sqrt(2 * squared / dimension))
