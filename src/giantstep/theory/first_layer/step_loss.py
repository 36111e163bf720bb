"""The residuals rho that the loss of a step makes of labels: theory.md section 25.

A step follows `rho = -dl/df` at the network's own output f, for the square loss the residual y - f.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr, roots_hermitenorm

from giantstep.arrays import Array
from giantstep.numerics.function_table import ScalarFunction
from giantstep.numerics.monotone_pieces import Pieces
from giantstep.numerics.quadrature import split_rule, strip_rule
from giantstep.numerics.scalar_functions import SIGN, lookup
from giantstep.numerics.transitions import Transition
from giantstep.problems.convex_losses import Loss, SmoothLoss
from giantstep.problems.losses import lookup_loss
from giantstep.problems.problem import label_levels
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.targets import target_function
from giantstep.theory.features.conditional_target import rule_across

# Nodes over the labels' noise that are exact for the fourth power of a residual.
_EXACT = 3
# Fineness of the rule for an analytic loss, for half the digits; and between corners, for ten
# digits even if they are far apart. Noise beyond so many standard deviations has 8e-11 of the mass.
_HALF, _BETWEEN, _FARTHEST = 0.5, 2.0, 6.5
# Averages over the noise change within so many standard deviations of a corner: ends of panels.
_AROUND = np.array([-6.0, -3.0, 0.0, 3.0, 6.0])
# Decimals by which labels differ. Where the output's slope is less than exp(-20), only rounding
# crosses a corner.
_DIGITS, _FLAT = 9, 20.0
# Nodes of less weight are left out.
_NEGLIGIBLE = 1e-18
# Stands for a jump that does not exist: far beyond all nodes.
_NOWHERE = 1e3


def noisy_labels(protocol: Protocol) -> Iterator[tuple[int, float, float]]:
    """Yield the target's sign in a label, its noise, and the weight: a rule over all labels.

    For losses without corners, which have one rule for all residuals.
    """
    loss, any_residual = lookup_loss(protocol.step_loss), np.zeros((1, 1))
    for sign, variance, share in label_levels(protocol):
        for noise, weight in zip(*_noise_rule(loss, variance, any_residual), strict=True):
            yield sign, noise, share * weight


def _noise_rule(loss: Loss, variance: float, clean: Array) -> tuple[Array, Array]:
    """Choose a rule over the labels' noise; of a loss with corners, one for each residual.

    Parameters
    ----------
    loss : Loss
    variance : float
    clean : Array, shape (N, Z)
        The residuals without noise.

    Returns
    -------
    noise, weight : Array, shape (X,) or (N, Z, X)
    """
    if variance == 0:
        return np.zeros(1), np.ones(1)
    std = math.sqrt(variance)
    if isinstance(loss, SmoothLoss):
        x, weight = strip_rule(loss.strip / std, _HALF)
    elif loss.corners:  # beyond both ends, which may be one or infinite, the derivative is constant
        both = np.array([loss.low, loss.high] if loss.inverse_curvature else loss.corners)
        ends = np.clip((both - clean[..., None]) / std, -_FARTHEST, _FARTHEST)
        first, last, (inner, weight) = ends[..., :1], ends[..., -1:], split_rule(ends, _BETWEEN)
        x = np.concatenate([first - 1, inner, last + 1], axis=-1)
        weight = np.concatenate([ndtr(first), weight, ndtr(-last)], axis=-1)
    else:
        x, weight = roots_hermitenorm(_EXACT)
    return std * x, weight / weight.sum(axis=-1, keepdims=True)


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
    for sign, variance, share in label_levels(protocol):
        jumps = _jumps(loss, srf, sign * output, sign, variance)
        labels, u, weight = rule_across(srf, kappa, *rule, jumps)
        used = np.flatnonzero(np.any(weight > _NEGLIGIBLE, axis=0))
        labels, u, weight = (values[..., used] for values in (labels, u, weight))
        noise, of_noise = _noise_rule(loss, variance, sign * labels - output[:, None])
        noisy = sign * labels[..., None] + noise
        of_loss = loss.residual_and_curvature(noisy, output[:, None, None])
        weights = share * weight[..., None] * of_noise + 0 * noisy
        flat = (values.reshape(kappa.size, -1) for values in (*of_loss, weights))
        parts.append((*flat, np.repeat(u, noise.shape[-1], axis=-1)))
    rho, curvature, weight, u = (np.concatenate(each, axis=-1) for each in zip(*parts, strict=True))
    return rho, curvature, u, weight


def corner_transitions(
    protocol: Protocol, srf: SpikedFeatures, output: ScalarFunction
) -> list[Transition]:
    """Find where averages of functions of the residual given kappa are not smooth in kappa.

    There the residual of an extreme label is at a corner of the loss. Noise of labels smooths it.

    Parameters
    ----------
    protocol : Protocol
    srf : SpikedFeatures
    output : ScalarFunction
        The network's, of kappa.
    """
    loss, levels = lookup_loss(protocol.step_loss), label_levels(protocol)
    if loss.margin or not loss.corners:
        return []
    extremes = Pieces(target_function(srf.target, srf.inputs)).values
    labels = [sign * extremes for sign, *_ in levels]
    at_corners = np.unique(np.subtract.outer(labels, loss.corners).round(_DIGITS))
    places, logs = Pieces(output).preimages(at_corners)
    steep = np.abs(logs) < _FLAT
    widths = math.sqrt(min(variance for _, variance, _ in levels)) * np.exp(logs[steep])
    step = lookup(SIGN)
    return [
        Transition(step, -x, 1.0, width) for x, width in zip(places[steep], widths, strict=True)
    ]


def _jumps(
    loss: Loss, srf: SpikedFeatures, clean: Array, sign: int, variance: float
) -> Array | None:
    """Find the arguments of the target at which a derivative of the loss jumps, shape (N, J).

    With noise also those around, between which its average changes. `clean` is the target at a
    residual of zero. The labels of losses of margins are constant.
    """
    if loss.margin or not loss.corners:
        return None
    around = math.sqrt(variance) * _AROUND if variance else np.zeros(1)
    values = clean[:, None] + sign * np.add.outer(loss.corners, around).ravel()
    z, log_density = Pieces(target_function(srf.target, srf.inputs)).preimages(values)
    z = np.where(np.isfinite(log_density), z, _NOWHERE).reshape(clean.size, -1)
    return z[:, np.any(z < _NOWHERE, axis=0)]
