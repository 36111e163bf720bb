"""The residuals rho that the loss of a step makes of labels: theory.md section 25.

A step follows `rho = -dl/df` at the network's own output f, for the square loss the residual y - f.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import roots_hermitenorm

from giantstep.arrays import Array
from giantstep.numerics.monotone_pieces import Pieces
from giantstep.problems.convex_losses import Loss
from giantstep.problems.losses import SQUARE, lookup_loss
from giantstep.problems.problem import label_levels
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.targets import target_function
from giantstep.theory.features.conditional_target import rule_across

# Nodes over the labels' noise; three are exact for the fourth power of a residual.
_NOISE_NODES, _EXACT = 16, 3
# Stands for a jump that does not exist: far beyond all nodes.
_NOWHERE = 1e3


def noisy_labels(protocol: Protocol) -> Iterator[tuple[int, float, float]]:
    """Yield the target's sign in a label, its noise, and the weight: a rule over all labels."""
    exact = protocol.step_loss == SQUARE
    for sign, variance, share in label_levels(protocol):
        count = 1 if variance == 0 else _EXACT if exact else _NOISE_NODES
        nodes, weights = roots_hermitenorm(count)
        for x, weight in zip(nodes, weights / weights.sum(), strict=True):
            yield sign, math.sqrt(variance) * x, share * weight


def step_residuals(
    protocol: Protocol, srf: SpikedFeatures, kappa: Array, output: Array, rule: tuple[float, float]
) -> tuple[Array, ...]:
    """Build a rule over the residuals of the samples of a batch.

    Panels end where the target has a kink, and where a derivative of the loss jumps. Targets of
    several directions have the square loss.

    Parameters
    ----------
    protocol : Protocol
    srf : SpikedFeatures
        The network as it stands.
    kappa, output : Array, shape (N,)
        Projections on the spike, and the network's output there.
    rule : (float, float)
        Factors on the number of nodes of a panel and on its width.

    Returns
    -------
    rho, curvature : Array, shape (N, M)
        Minus the first derivative of the loss by the output, and the second.
    u : Array, shape (D, N or 1, M)
        Projections on the target's directions across the spike.
    weight : Array, shape (N, M)
    """
    loss = lookup_loss(protocol.step_loss)
    parts = []
    for sign, noise, share in noisy_labels(protocol):
        jumps = _jumps(loss, srf, sign * (output - noise), sign)
        labels, u, weight = rule_across(srf, kappa, *rule, jumps)
        rho, curvature = loss.residual_and_curvature(sign * labels + noise, output[:, None])
        parts.append((rho, curvature, u, share * weight + 0 * rho))
    return tuple(np.concatenate(each, axis=-1) for each in zip(*parts, strict=True))


def _jumps(loss: Loss, srf: SpikedFeatures, clean: Array, sign: int) -> Array | None:
    """Find the arguments of the target at which a derivative of the loss jumps, shape (N, J).

    `clean` is the target at a residual of zero. The labels of losses of margins are constant.
    """
    if loss.margin or not loss.corners:
        return None
    values = clean[:, None] + sign * np.array(loss.corners)
    z, log_density = Pieces(target_function(srf.target, srf.inputs)).preimages(values)
    return np.where(np.isfinite(log_density), z, _NOWHERE).reshape(clean.size, -1)
