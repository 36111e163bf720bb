"""A quadrature rule over the samples of a batch, with few nodes: for functions of the residual.

theory.md section 13.

The effect of a sample on the covariance of the rows is a smooth function of its projection kappa on
the spike and of its residual rho, times powers of its projections u on the target's directions
across the spike. At each kappa, rho has some distribution over u and the labels' noise: Gauss rules
for parts of that distribution replace thousands of nodes over u and noise by some dozens over rho.
"""

from __future__ import annotations

import math

import numpy as np

from giantstep.arrays import Array, RealOrComplex
from giantstep.numerics.complex_path import complex_path
from giantstep.numerics.gauss_rules import split_gauss_rule
from giantstep.numerics.quadrature import WIDE_PANELS, product_rule, split_rule, unit_edges
from giantstep.problems.readout import Vocabulary

# Nodes over each part of the distribution of rho. Before that, least and most nodes over the noise;
# functions with poles nearer than its standard deviation need more, by this factor.
NODES, _NOISE_NODES, _NEAR_POLES = 6, (32, 150), 12
# Beyond the most, panels over the noise are no narrower than this.
_NARROWEST = 0.01
# A rule with no more nodes than the first, and with noise than the second, is kept as it is.
_FEW, _MANY = 1000, 300_000


def residual_rule(
    noise_levels: Vocabulary,
    clean: RealOrComplex,
    weights: RealOrComplex,
    scale: float,
    nodes: int = NODES,
) -> tuple[RealOrComplex, RealOrComplex]:
    """Build the rule of E[f_j(u) g(rho) | kappa] from nodes over u, for J functions f_j.

    Parameters
    ----------
    noise_levels : tuple of (variance, fraction)
    clean : array, shape (K, M)
        The residuals without noise. Where they are on `complex_path`, so are those with noise.
    weights : array, shape (J, K or 1, M)
    scale : float
        Functions of rho may have poles as near to the real axis as this.
    nodes : int
        On each part of the distribution of rho.

    Returns
    -------
    rho, weights : array, shape (K, N) and (J, K, N)
    """
    on_path = np.iscomplexobj(clean)
    rules = [
        (z, math.sqrt(variance) * z, fraction * weight)
        for variance, fraction in noise_levels
        for z, weight in [WIDE_PANELS if on_path else _noise_rule(variance, scale)]
    ]
    z, noise, share = (np.concatenate(parts) for parts in zip(*rules, strict=True))
    if clean.size <= _FEW and clean.size * noise.size <= _MANY:
        rho, weights = clean, np.broadcast_to(weights, (len(weights), *clean.shape))
    else:
        rho, weights = split_gauss_rule(clean, weights, scale, nodes)
    if not noise.any():
        return rho, weights
    rho, noisy = np.add.outer(rho, noise), np.multiply.outer(weights, share)
    if on_path:
        _, factors, rho = complex_path(z, rho)
        noisy *= factors
    noisy = noisy.reshape(*noisy.shape[:2], -1)
    return split_gauss_rule(rho.reshape(len(rho), -1), noisy, scale, nodes)


def _noise_rule(variance: float, scale: float) -> tuple[Array, Array]:
    """Choose a Gauss rule or, where that would need too many nodes, panels."""
    if variance == 0:
        return np.zeros(1), np.ones(1)
    needed, (least, most) = (_NEAR_POLES / scale) ** 2 * variance / 2, _NOISE_NODES
    if needed > most:
        panel = max(2 * scale / math.sqrt(variance), _NARROWEST)
        return split_rule(unit_edges(np.empty(0), panel))
    points, weights = product_rule(1, max(round(needed), least))
    return points[:, 0], weights
