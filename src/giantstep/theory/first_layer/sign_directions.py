"""What a step by signs does to rows along spike and target: docs/sign-descent.md.

For any activation and target. Over the neurons an entry of the gradient is Gaussian around its
mean: signs respond to what a neuron adds to it, less where the mean is large, as it is along the
spike. Beyond these directions the covariance of the rows is taken as isotropic.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erf

from giantstep.arrays import Array
from giantstep.numerics.quadrature import graded_edges, split_rule, unit_edges
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.conditional_target import across_basis
from giantstep.theory.first_layer.fresh_step import FreshStep
from giantstep.theory.first_layer.network_state import NetworkState
from giantstep.theory.rows.row_functions import Forms, RowFunctions, as_columns

_TOLERANCE = 1e-10


def directions_after_signs(
    step: FreshStep, e: float, srf: SpikedFeatures
) -> tuple[RowFunctions, NetworkState] | None:
    """Compute the rows' functions and the state after a step; None if its mean or noise vanishes.

    Parameters
    ----------
    step : FreshStep
        Of plain descent.
    e : float
        Length of the step by signs.
    srf : SpikedFeatures
        After it.
    """
    own = (step.growth[0] - 1) ** 2 + step.bulk_variance[0] - step.growth[0] ** 2
    if not (own > _TOLERANCE and np.any(step.spike)):
        return None
    c, covariance = float(srf.groups.c[0]), np.zeros((srf.alignments.size + 2,) * 2)
    S = _covariance(step, e, math.sqrt(own), srf.alignments)
    covariance[:-1, :-1] = S

    def columns(t: Array) -> Array:
        f, R = 1 / (1 + c * t), np.zeros((t.size, *covariance.shape))
        R[:, :-1, :-1] = np.linalg.inv(np.eye(len(S)) + t[:, None, None] * S)
        return as_columns(f, c * f, Forms(R, S @ R[:, :-1, :-1]))

    state = NetworkState(c, float(srf.groups.u[0]), srf.alignment, covariance=covariance)
    return RowFunctions.fitted(c, columns, _TOLERANCE), state


def _covariance(step: FreshStep, e: float, deviation: float, alignments: Array) -> Array:
    """Compute d times the covariance along the spike and the target across it, (D + 1, D + 1).

    From averages over the entries z of the mean gradient, of vectors with these entries: the spike,
    the target's directions and that of the batch's noise.
    """
    spike, growth = step.spike[1:], step.growth[0] - 1
    unit = spike / np.linalg.norm(spike)
    k = float(spike @ unit) / deviation
    z, weight = split_rule(unit_edges(graded_edges(0.0, 1 / k)))
    mean = e * erf(k * z / math.sqrt(2))
    response = e * math.sqrt(2 / math.pi) / deviation * np.exp(-((k * z) ** 2) / 2)
    vectors = np.vstack([mean / math.sqrt(weight @ mean**2), np.outer(unit, z)])
    across = np.zeros((len(vectors),) * 2)
    across[1:, 1:] = np.eye(unit.size) - np.outer(unit, unit)

    def average(values: Array) -> Array:
        return (vectors * (weight * values)) @ vectors.T + across * (weight @ values)

    # Beside multiples of the identity, what plain descent does along target and batch.
    linear, noise = step.linear_map()[0, 1:-1, 1:-1], step.batch_noise()[0, 1:-1, 1:-1]
    identity, own_noise = np.eye(unit.size), step.bulk_variance - step.growth**2
    linear, noise = linear - step.growth * identity, noise - own_noise * identity
    responses = average(response)[:, 1:]
    mixed = responses @ linear @ average(1 + growth * response)[1:]
    # What acts from the batch's direction on the others is in the noise.
    kept = linear[:, :-1]
    S = average(1 + 2 * growth * response + e**2 - mean**2) + mixed + mixed.T
    S += responses @ (kept @ kept.T + noise) @ responses.T
    basis = np.zeros((alignments.size + 1, len(vectors)))
    basis[0, 0] = 1
    basis[1:, 0], basis[1:, 1:-1] = -alignments, np.eye(alignments.size)
    basis[1:] = np.linalg.pinv(across_basis(alignments)) @ basis[1:]
    return basis @ S @ basis.T
