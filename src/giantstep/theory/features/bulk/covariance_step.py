"""What a step on a fresh batch does to the covariance of the rows, sample by sample.

Given its batches the rows b of a trained bulk have covariance C/d, and their |b|^2/c - 1 has the
covariance a/d with them and s/d with itself. A step on a batch of n0 samples x changes these to

    C' = L C L + D + h a^T L + L a h^T + s h h^T,    L = 1 + (1/n0) sum eta x x^T,
    a' = L (p a + C l) + (p s + l.a) h + k,          D = (1/n0) sum noise x x^T,

where h, l and k are the means over the batch of x times `by_norm`, `norm` and `pull`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array, Indices
from giantstep.problems.protocol import Protocol
from giantstep.theory.features.bulk.batch_rule import ResidualRule, residual_rule
from giantstep.theory.features.complete_steps import CompleteStep
from giantstep.theory.features.conditional_target import target_rule
from giantstep.theory.features.several_steps import NORM, NetworkState, features_in_state

# Nodes with less weight than this are left out.
_NEGLIGIBLE = 1e-14


class Samples(NamedTuple):
    """The samples of a batch, on the N nodes of a rule.

    Attributes
    ----------
    weight : Array, shape (N,)
    along : Array, shape (2, N)
        The weight times kappa, and times u.
    squares : Array, shape (3, N)
        The weight times kappa^2, kappa u, and u^2.
    eta, noise, by_norm, norm, pull : Array, shape (N,)
        As at the head of this module.
    gradient : Array, shape (N,)
        rho A0: the mean of this times x moves all rows alike.
    """

    weight: Array
    along: Array
    squares: Array
    eta: Array
    noise: Array
    by_norm: Array
    norm: Array
    pull: Array
    gradient: Array


@dataclass(frozen=True, eq=False)
class CovarianceStep:
    """One step, as the covariance of the rows sees it.

    Attributes
    ----------
    samples : Samples
    inverse_batch : float
        1/alpha0.
    bulk_variance : float
        c before the step.
    covariance : Array, shape (3, 3)
        Sigma before the step.
    keeps_norm : float
        p above.
    turn : Array, shape (2, 3)
        The spike after the step and the direction across it, in the basis of the spike before it,
        the direction across that, and the mean over the batch of x times `gradient`.
    """

    samples: Samples
    inverse_batch: float
    bulk_variance: float
    covariance: Array
    keeps_norm: float
    turn: Array

    @classmethod
    def of(cls, protocol: Protocol, state: NetworkState, fineness: int) -> CovarianceStep:
        """Prepare the step that a network in some state takes next."""
        step = CompleteStep(protocol, state, fineness)
        samples = _samples(step, fineness)
        turn = step.directions()
        size = math.sqrt(step.inverse_batch * (samples.weight @ samples.gradient**2))
        if size > 0:  # from the noise of the gradient to the gradient
            turn[:, 2] /= size
            turn[:, :2] -= np.outer(turn[:, 2], samples.along @ samples.gradient)
        return cls(
            samples=samples,
            inverse_batch=step.inverse_batch,
            bulk_variance=state.bulk_variance,
            covariance=state.covariance,
            keeps_norm=step.linear_map()[NORM, NORM],
            turn=turn,
        )


def _residuals(step: CompleteStep, kept: Indices, fineness: int) -> ResidualRule:
    """Build the rule over the residuals, and over u, at the nodes over kappa that are kept."""
    srf = features_in_state(step.protocol, step.state)
    clean, u, weight = target_rule(srf, step.kappa[kept], fineness)
    clean = clean - step.omega * step.activation.mean[kept, None]
    # Poles are nearest for large t, where a sample damps itself by about rho^2/(alpha0 E rho^2).
    scale = math.sqrt(step.mean(2, np.ones_like(step.kappa)) / max(1, step.inverse_batch))
    u, weight = (np.broadcast_to(part, clean.shape) for part in (u[0], weight))
    return residual_rule(step.protocol, clean, u, weight, scale)


def _samples(step: CompleteStep, fineness: int) -> Samples:
    kept = np.flatnonzero(step.weight > _NEGLIGIBLE)
    rho, on_u = _residuals(step, kept, fineness)
    kappa, (weight, on_u, on_u2) = step.kappa[kept, None], on_u * step.weight[kept, None]
    A = type(step.activation)(*(values[kept, None] for values in step.activation))
    cube = step.slope_moments.cube[kept, None]
    e, b, growth = step.rate, step.inverse_batch, step.growth
    c, c_next = step.state.bulk_variance, step.bulk_variance
    squared = e**2 * b * rho**2
    per_sample = (
        e * rho * A.curvature,
        squared * np.maximum(A.variance - c * A.curvature**2, 0),
        e * c / 2 * rho * A.third,
        (2 * e * c * growth * rho * A.third + squared * A.variance_along) / c_next,
        (
            2 * growth * squared * (c * A.variance_along - c**2 * A.curvature * A.third)
            + e * b * rho * squared * (cube - c * A.curvature * A.variance_along)
        )
        / c_next,
        rho * A.slope,
    )
    counts = weight > _NEGLIGIBLE
    return Samples(
        weight[counts],
        np.stack([kappa * weight, on_u])[:, counts],
        np.stack([kappa**2 * weight, kappa * on_u, on_u2])[:, counts],
        *(values[counts] for values in per_sample),
    )
