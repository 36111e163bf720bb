"""The effect of a step on a fresh batch on the covariance of the rows, sample by sample.

theory.md section 13.

Given its batches, a row b of a trained bulk has covariance C/d; its delta = |b|^2/c - 1 has the
covariance a/d with b, and the variance s/d. A step on a batch of n0 samples x changes these to

    C' = L C L + D + h a^T L + L a h^T + s h h^T,    L = kept + (1/n0) sum eta x x^T,
    a' = L (p a + C l) + (p s + l.a) h + k,          D = (1/n0) sum noise x x^T,

where h, l and k are the means over the batch of x times `by_norm`, `norm` and `coupling`.
"""

from __future__ import annotations

import math

import numpy as np

from giantstep.arrays import Array, RealOrComplex
from giantstep.numerics.activation_averages import ActivationAverages
from giantstep.numerics.complex_path import complex_path
from giantstep.numerics.packed_symmetric import triangle_of
from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import noise_levels
from giantstep.theory.features.conditional_target import rule_on_panels, target_rule
from giantstep.theory.first_layer.fresh_step import FreshStep
from giantstep.theory.first_layer.network_state import features_in_state
from giantstep.theory.first_layer.step_loss import step_residuals
from giantstep.theory.rows.batch_rule import residual_rule

# Nodes of less weight are left out: on the real axis, and on `complex_path`.
_NEGLIGIBLE, _RARE = 1e-14, 1e-10
# Nodes over the projection on each direction of a teacher, by the number of directions. Polynomials
# would need fewer, but functions of the residual have poles.
_NODES = {1: 1, 2: 40, 3: 16}
# For a first step, which needs only two nodes over kappa, so many times as many.
_FIRST = 2


class CovarianceStep:
    """A step in its effect on the covariance of the rows.

    Parameters
    ----------
    step : FreshStep
    on_path : bool
        Whether samples are on `complex_path`, for spectra, which do not need `turn`.

    Attributes
    ----------
    weight : Array, shape (N,)
        Weights of a rule over the samples of a batch.
    along : Array, shape (m, N)
        The weight times y = (kappa, u_1 ... u_D), the projections of `FreshStep`; m = D + 1.
    squares : Array, shape (m, m, N)
        The weight times y y^T.
    eta, noise, by_norm, norm, coupling : Array, shape (N,)
        As at the head of this module.
    gradient : Array, shape (N,)
        rho A0: the mean of this times x moves all rows alike.
    inverse_alpha0 : float
        1/alpha0.
    bulk_variance, norm_variance : float
        c before the step, and d times the variance of |b|^2/c.
    kept : float
        Share of the rows that the step leaves, 1 without weight decay.
    keeps_norm : float
        p above, by which delta is multiplied.
    turn : Array, shape (m, m + 1)
        The spike after the step and the directions across it, in the basis of the spike before it,
        the directions across that, and the mean over the batch of x times `gradient`.
    """

    def __init__(self, step: FreshStep, on_path: bool = False) -> None:
        # All that is averaged in a mirrored step is even in kappa.
        share = step.share * (2 * (step.kappa > 0) if step.mirrored else 1)
        kept = np.flatnonzero(share > _NEGLIGIBLE)
        kappa, A = step.kappa[kept], step.activation.at(kept)
        rho, weights = _residuals(step, kappa, A.mean, on_path)
        weights = weights * share[kept, None]
        counts = np.abs(weights[0]) > (_RARE if on_path else _NEGLIGIBLE)
        nodes, rho = np.nonzero(counts)[0], rho[counts]
        # From averages of the products of (1, u) to those of (kappa, u).
        triangle = triangle_of(math.isqrt(2 * len(weights)))
        products = np.moveaxis(triangle.unpack(weights[:, counts].T), 0, -1)
        scale = np.stack([kappa[nodes]] + [np.ones(nodes.size)] * (len(products) - 1))
        self.weight, self.along = products[0, 0].copy(), scale * products[0]
        self.squares = scale[:, None] * scale * products
        self._set_responses(step, rho, A.at(nodes))
        _, self.turn = step.directions()
        power = 0.0 if on_path else step.inverse_alpha0 * (self.weight @ self.gradient**2)
        if power > 0:  # from the noise of the gradient to the gradient
            self.turn[:, -1] /= math.sqrt(power)
            self.turn[:, :-1] -= np.outer(self.turn[:, -1], self.along @ self.gradient)

    def _set_responses(self, step: FreshStep, rho: Array, A: ActivationAverages) -> None:
        """Compute the effect of each sample on the rows."""
        b, c = step.inverse_alpha0, step.state.bulk_variance
        ((self.eta, self.by_norm), (self.norm, _)), ((_, shared), _) = step.responses(rho, A)
        self.gradient = rho * A.slope
        self.noise = b * (step.rates * rho) ** 2 * np.maximum(A.variance - c * A.curvature**2, 0)
        self.coupling = shared - b * c * self.eta * self.norm
        self.inverse_alpha0, self.bulk_variance, self.kept = b, c, step.protocol.kept
        self.norm_variance = step.state.covariance[-1, -1]
        self.keeps_norm = step.linear_map[0, -1, -1]


def _residuals(
    step: FreshStep, kappa: Array, output: Array, on_path: bool
) -> tuple[RealOrComplex, RealOrComplex]:
    """Build the rule over the residuals given kappa, for the products of (1, u) in pairs."""
    srf, levels = features_in_state(step.protocol, step.state), noise_levels(step.protocol)
    finer, _ = step.rule
    nodes = int(_NODES.get(srf.alignments.size, 0) * finer * (_FIRST if kappa.size <= 2 else 1))
    # Poles are nearest for large t, where a sample damps itself by about rho^2/(alpha0 E rho^2).
    scale = math.sqrt(step.rho**2 @ step.weight / max(1, step.inverse_alpha0))
    square, output = step.protocol.step_loss == SQUARE, step.protocol.readout[0][0] * output
    # Flipped labels are bounded, and a target along the spike does not depend on u: no path then.
    if square and on_path and srf.label_flips == 0 and srf.first_alignment**2 < 1:
        labels, u, weight = rule_on_panels(srf, kappa, nodes)
        _, factors, on_nodes = complex_path(u[0], labels - output[:, None, None])
        moved = (weight * factors).reshape(1, kappa.size, -1)
        return residual_rule(levels, on_nodes.reshape(kappa.size, -1), moved, scale)
    if square:
        labels, u, weight = target_rule(srf, kappa, finer, nodes=nodes)
        rho = labels - output[:, None]
    else:  # the rule has the noise
        levels = ((0.0, 1.0),)
        rho, _, u, weight = step_residuals(step.protocol, srf, kappa, output, step.rule)
    powers = np.concatenate([np.ones_like(u[:1]), u])
    first, second = np.triu_indices(len(powers))
    return residual_rule(levels, rho, weight * powers[first] * powers[second], scale)
