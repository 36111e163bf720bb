"""How the norm of a sample's features varies at finite width: theory.md section 12.

Given kappa, the features of a sample have the squared norm `rho` times its mean, and rho varies,
with the variance `Var (sigma - mu0)^2/p` over the squared mean: a lot for saturated activations, of
whose features few are far from their mean. V(kappa) and the variances of a prediction are rho times
what they are in the limit d -> infinity. The law of rho is taken as a Gamma law of that variance.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from giantstep.arrays import Array, Indices
from giantstep.numerics.gaussian import gaussian_rule
from giantstep.numerics.linear_systems import TINY
from giantstep.numerics.quadrature import gamma_rule
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_features import ConditionalFeatures

# Nodes over rho for variances up to each bound, and beyond.
_VARIANCES = (1e-9, 3e-3, 0.05)
_COUNTS = (1, 2, 3, 8)
# Searches start below this fineness, with at most so many.
_COARSE, _FEW = 0.5, 2
# Values of kappa at which the variance is looked at: nearly all inputs lie between.
_INPUTS = np.arange(-4.0, 5.0)


def norm_variance(srf: SpikedFeatures, kappa: Array, fineness: float = 1) -> Array:
    """Compute p times the variance of rho given kappa, shape (N,).

    For several groups, rho is that of all neurons together.
    """
    activation, squares, mean = lookup(srf.activation), np.zeros(kappa.size), np.zeros(kappa.size)
    for c, u, pi, b in zip(*srf.groups, strict=True):
        shift, std = b + u * kappa, math.sqrt(c)
        z, weight = gaussian_rule(activation, shift, std, fineness)
        values = activation.value(shift[:, None] + std * z)
        values -= np.sum(weight * values, axis=-1, keepdims=True)
        values *= values
        power = np.sum(weight * values, axis=-1)
        mean += pi * power
        squares += pi * np.sum(weight * (values - power[:, None]) ** 2, axis=-1)
    return squares / np.maximum(mean**2, TINY)


def with_feature_norms(
    f: ConditionalFeatures, srf: SpikedFeatures, dimension: float, fineness: float = 1
) -> ConditionalFeatures:
    """Give every node over kappa several nodes over rho; none as d -> infinity.

    Left out for spikes of several directions.

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
    if math.isinf(dimension) or srf.further_spikes:
        return f
    place, rho, share = _nodes(srf, f.half(f.kappa), srf.beta * dimension, fineness)
    if f.mirrored:
        middle = f.kappa.size // 2
        place = np.concatenate([middle - 1 - place[::-1], middle + place])
        rho, share = (np.concatenate([values[::-1], values]) for values in (rho, share))
    return replace(f.at(place), weight=f.weight[place] * share, row_norm=rho)


def _nodes(
    srf: SpikedFeatures, kappa: Array, width: float, fineness: float
) -> tuple[Indices, Array, Array]:
    """Choose nodes over rho, the more the more it varies: node over kappa, rho and share of each.

    Their number is the same for all kappa, so that no average jumps from one to the next.
    """
    largest = norm_variance(srf, _INPUTS).max() / width
    counts = np.minimum(_COUNTS, _FEW) if fineness < _COARSE else _COUNTS
    count = int(counts[np.searchsorted(_VARIANCES, largest)])
    rho, share = gamma_rule(norm_variance(srf, kappa, fineness) / width, count)
    return np.repeat(np.arange(kappa.size), count), rho.ravel(), share.ravel()
