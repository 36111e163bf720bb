"""From V to means, variances and errors of the square loss: theory.md section 4, in order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.linear_systems import solve_certified
from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED_NORMS
from giantstep.problems.problem import Problem, noise_power
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.bulk.batch_covariance import FirstBatch
from giantstep.theory.bulk.interface import Bulk, SpikeResponse
from giantstep.theory.bulk.isotropic import IsotropicBulk
from giantstep.theory.bulk.trained import TrainedBulk
from giantstep.theory.conditional_features import ConditionalFeatures, conditional_features
from giantstep.theory.fixed_point import Equations, Resolvent
from giantstep.theory.means import LabelResidual, Means, solve_means


class SquareLoss:
    """From V to the test error on one quadrature rule."""

    def __init__(self, f: ConditionalFeatures, srf: SpikedFeatures, bulk: Bulk) -> None:
        self.features, self.srf = f, srf
        self.equations, self.label_residual = Equations(f, srf, bulk), LabelResidual(f, srf.beta)
        self.functions = f.fold(self.label_residual.functions)
        self.expectations = np.concatenate(
            [self.label_residual.functions @ f.weight, self.equations.weighted.sum(axis=0)]
        )

    def order_parameters(self, at: Resolvent) -> SquareLossSolution:
        """Solve for the means, then for the variances, then for the errors."""
        split = self.equations.triangle.size
        V1_hat = self.equations.triangle.unpack(at.V_hat[:, :split])
        response = self.equations.bulk.spike_response(V1_hat, at.V)
        mean = solve_means(self.features, at, self.label_residual, response)
        misfit = self.label_residual.coefficients(mean)
        squared = at.contraction**2
        unfitted = misfit @ self.functions
        unfitted *= squared
        q, direction, residual = _variances(self.equations, at, mean, response, unfitted)
        scaled = q * self.equations.multiplicity
        test_error = np.concatenate([misfit, scaled], axis=-1) @ self.expectations
        fitted = np.einsum("sk,sk->s", scaled, squared @ self.equations.weighted)
        return SquareLossSolution(
            test_error=test_error - noise_power(self.srf),
            training_error=at.scale**2 * (unfitted.sum(axis=-1) + fitted),
            mean=mean,
            response=response,
            q=q,
            direction=direction,
            residual=np.maximum(mean.residual, residual),
        )


class SquareLossSolution(NamedTuple):
    """What follows from V at S points."""

    test_error: Array
    training_error: Array
    mean: Means
    response: SpikeResponse
    q: Array
    direction: Array
    residual: Array


def _variances(
    equations: Equations, at: Resolvent, mean: Means, response: SpikeResponse, unfitted: Array
) -> tuple[Array, Array, Array]:
    """Solve `(q1, q2) = T (q_hat + first) + second`, theory.md section 4, "Variances".

    The sources are what the overlaps add. Here `q_hat = b + H (q1, q2)`, where b comes from
    `unfitted`: what the means leave of the label, times 1/(1 + V)^2, folded. In units of V the
    matrix I - T H is that of Newton's method.

    Returns
    -------
    q : Array, shape (S, K)
    direction : Array, shape (S, K)
        `q_hat + first`.
    residual : Array, shape (S,)
    """
    first, second = response.sources(mean.along_hat, mean.across_hat)
    b = (at.alpha / equations.beta)[:, None] * (unfitted @ equations.coefficients.T)
    direction = b + first
    unit = equations.units(at.V)
    matrix = np.eye(unit.shape[-1]) - (at.T @ at.H) * unit[:, None, :] / unit[:, :, None]
    right = (np.einsum("sij,sj->si", at.T, direction) + second) / unit
    relative, residual = solve_certified(matrix, right)
    q = relative * unit
    return q, direction + np.einsum("sij,sj->si", at.H, q), residual


def square_loss_on(
    problem: Problem, srf: SpikedFeatures, bulk: str, fineness: int = 1, B: Array | None = None
) -> SquareLoss:
    """Set a problem up on quadrature rules of some fineness."""
    if bulk == ISOTROPIC or isinstance(problem, SpikedFeatures):
        features = conditional_features(srf, fineness, B)
        return SquareLoss(features, srf, IsotropicBulk(features.B, srf.groups, srf.beta))
    batch = FirstBatch.of(problem, fineness)
    norms = bulk == TRAINED_NORMS and batch.coupling != 0
    features = conditional_features(srf, fineness, B, norms)
    return SquareLoss(features, srf, TrainedBulk(problem, features.B, batch, norms))
