"""Means, variances and errors of the square loss, from V: theory.md section 4."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.linear_systems import multiply, solve_certified
from giantstep.problems.problem import label_agreement, noise_power
from giantstep.theory.features.conditional_features import ConditionalFeatures
from giantstep.theory.first_layer.interface import FirstLayer
from giantstep.theory.readout.fixed_point import Equations, Resolvent
from giantstep.theory.readout.mean_penalty import MeanPenalty
from giantstep.theory.readout.means import LabelResidual, Means, solve_means
from giantstep.theory.reliability import Fluctuation
from giantstep.theory.rows.interface import Bulk, Sources, SpikeResponse


class SquareLoss:
    """The equations for the square loss on one quadrature rule.

    Parameters
    ----------
    first : FirstLayer
    f : ConditionalFeatures
        Those of the layer on some nodes.
    rows : Bulk

    Attributes
    ----------
    penalty : MeanPenalty
        On the means m.
    """

    def __init__(self, first: FirstLayer, f: ConditionalFeatures, rows: Bulk) -> None:
        self.features, self.srf = f, first.features
        width = self.srf.beta * first.dimension
        finite = math.isfinite(width)
        self.penalty = MeanPenalty(width, first.shifts() if finite else [])
        self.equations = Equations(f, self.srf, rows)
        self.label_residual = LabelResidual(f, self.srf.beta, penalised=finite)
        self.weight = f.fold(np.ones_like(f.weight))

    def order_parameters(self, at: Resolvent) -> SquareLossSolution:
        """Compute the means (19), the variances (20) and the errors (25), in this order, from V."""
        response = self.equations.response(at.V_hat, at.V)
        mean = solve_means(at, self.label_residual, response, self.penalty)
        sources = self.penalty.sources(response, response, mean, mean)
        errors = self.residual_errors(at, at.contraction**2, sources, (mean, mean))
        return SquareLossSolution(errors, mean, response)

    def residual_errors(
        self,
        at: Resolvent,
        contraction_squared: Array,
        sources: Sources,
        means: tuple[Means, Means],
    ) -> ResidualErrors:
        """Compute the covariances of two readouts, and the mean products of their residuals.

        For a readout and itself these are q1, q2 and the test error (25). The sources are what the
        overlaps add to the variances: `MeanPenalty.sources`.
        """
        residuals = self.label_residual.at(means)
        unfitted = contraction_squared * residuals
        q, direction, residual = solve_variances(self.equations, at, sources, unfitted)
        scaled = q * self.equations.multiplicity
        fresh = residuals @ np.ones_like(self.weight) + scaled @ self.equations.expectations
        test_error = fresh - noise_power(self.srf)
        if (agreement := label_agreement(self.srf)) < 1:
            overlap = self._label_overlap(means[0]) + self._label_overlap(means[1])
            test_error = test_error - (1 / agreement - 1) * overlap
        residual = np.maximum.reduce([residual, *(mean.residual for mean in means)])

        def fitted() -> Array:
            return contraction_squared * (residuals + scaled @ self.equations.folded.T)

        return ResidualErrors(test_error, fresh, fitted, q, direction, residual)

    def _label_overlap(self, mean: Means) -> Array:
        """Compute the mean product of label and prediction, shape (S,)."""
        f, expressible = self.features, self.label_residual.expressible
        along, across = expressible @ (f.weight * f.h), f.across @ f.weight
        return mean.prediction @ along + mean.slope @ across

    def variance(self, q: Array) -> Array:
        """Compute the variance of predictions given kappa, averaged over it, from (q1, q2)."""
        return q @ (self.equations.multiplicity * self.equations.expectations)

    def fluctuation(self, at: Resolvent, fitted: Array) -> Fluctuation:
        """Return the inputs of the corrections of `reliability` at S points."""
        V2 = at.V[:, self.equations.triangle.size :]
        return Fluctuation(at.alpha, V2, at.contraction, fitted)

    def overlaps(self, solution: SquareLossSolution) -> dict[str, Array]:
        """Compute the overlaps of each group of neurons, and of each pair."""
        errors, mean, response = solution
        return self.penalty.overlaps(response, errors.direction, errors.q, mean)


class ResidualErrors(NamedTuple):
    """Covariances and errors of two readouts at S points; for one readout its own.

    Attributes
    ----------
    test_error, fresh : Array, shape (S,)
        Mean products of the residuals on clean labels, and on fresh ones with their noise.
    fitted : callable
        Computes the same after fitting, at each kappa, over the scale squared, times the weight,
        shape (S, N').
    q : Array, shape (S, K)
        (q1, q2) over the functions phi and the groups.
    direction : Array, shape (S, K)
        Perturbation of the hats along which V changes by minus (q1, q2).
    residual : Array, shape (S,)
        Largest relative residual of the linear equations.
    """

    test_error: Array
    fresh: Array
    fitted: Callable[[], Array]
    q: Array
    direction: Array
    residual: Array


class SquareLossSolution(NamedTuple):
    """Errors and variances at S points, and what they follow from."""

    errors: ResidualErrors
    mean: Means
    response: SpikeResponse


def solve_variances(
    equations: Equations, at: Resolvent, sources: Sources, unfitted: Array
) -> tuple[Array, Array, Array]:
    """Solve (20), `(q1, q2) = T (q_hat + first) + second`: theory.md section 4, "Variances".

    `first` and `second` are the `sources`, the contributions of the overlaps. Here
    `q_hat = b + H (q1, q2)`, where b is the average of `unfitted`: the squared residual of the
    label, times the quadrature weights and 1/(1 + V)^2. The unknowns are scaled by V: the matrix
    I - T H is then Newton's for V.

    Returns
    -------
    q : Array, shape (S, K)
    direction : Array, shape (S, K)
        `q_hat + first`.
    residual : Array, shape (S,)
    """
    first, second = sources
    b = (at.alpha / equations.beta)[:, None] * (unfitted @ equations.coefficients.T)
    direction = b + first
    unit = np.einsum("sii->si", equations.coordinates.derivative(at.V))
    matrix = np.eye(unit.shape[-1]) - multiply(at.T, at.H) * unit[:, None, :] / unit[:, :, None]
    right = (multiply(at.T, direction) + second) / unit
    relative, residual = solve_certified(matrix, right)
    q = relative * unit
    return q, direction + multiply(at.H, q), residual
