"""The readout by gradient flow for a finite time: docs/theory/early-stopping.md.

Its predictions are a weighted sum of those at several ridges (`numerics.stopping_filter`), so that
its errors are sums over pairs of ridges of the covariance of two residuals. This follows from the
equations for the variance of one, with products in place of squares.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from giantstep.arrays import Array, Indices
from giantstep.numerics.stopping_filter import PAIRS, stopping_filter
from giantstep.theory.readout.fixed_point import Resolvent, solve_resolvent
from giantstep.theory.readout.readout import Estimate, Readout, Solved
from giantstep.theory.readout.square_loss import ResidualErrors, SquareLossSolution
from giantstep.theory.readout.square_readout import changes_on_finer_rule


class StoppedReadout(Readout):
    """The readout that gradient flow on the square loss reaches from zero in the time 1/ridge."""

    arrays = PAIRS

    def estimate(self, alpha: Array, ridge: Array) -> Estimate:
        """Compute test errors at S points."""
        found = self.find(alpha, ridge)
        error = np.where(found.converged, found.values["test_error"], np.nan)
        return error, found.fluctuation, self.features

    def find(self, alpha: Array, ridge: Array) -> Solved:
        """Solve S points, each by N ridges.

        Errors of quadrature are those of the ridge itself. The change of the test error with a
        coarser fit of the filter is far more than the error of the fit.
        """
        square_loss, (multiples, _, first) = self.square_loss, stopping_filter()
        ridges = np.multiply.outer(ridge, multiples)
        at = solve_resolvent(
            square_loss.equations, np.repeat(alpha, multiples.size), ridges.ravel()
        )
        values, by_coarse_fit, q, squares = self._sums(at, ridge.size)
        one = at.at(np.arange(first, ridges.size, multiples.size))
        by_one = square_loss.order_parameters(one).errors.test_error
        shift, change = changes_on_finer_rule(self.layer.finer.square_loss, one, by_one)
        return Solved(
            values,
            np.logical_and.reduce(at.converged.reshape(ridges.shape), axis=1),
            shift,
            np.maximum(change, np.abs(by_coarse_fit / values["test_error"] - 1)),
            # Of a readout that interpolates only rounding is left, of either sign.
            square_loss.fluctuation(one, np.maximum(squares, 0)),
            square_loss.variance(q),
        )

    def _sums(self, at: Resolvent, S: int) -> tuple[dict[str, Array], Array, Array, Array]:
        """Weigh the ridges of each of S points, and their pairs.

        Returns
        -------
        values : dict of Array, shape (S, ...)
        by_coarse_fit : Array, shape (S,)
            The test error with the coarse fit of the filter.
        q, squares : Array, shape (S, K) and (S, N')
            The variances, and the squared residual at each kappa, as in `ResidualErrors`.
        """
        _, weights, _ = stopping_filter()
        i, j = np.triu_indices(weights.shape[1])
        start = weights.shape[1] * np.arange(S)[:, None]
        B, triangle = self.square_loss.equations.B, self.square_loss.equations.triangle
        solutions = self.square_loss.order_parameters(at)
        pairs = self._pairs(at, solutions, (start + i).ravel(), (start + j).ravel())
        products = weights[:, i] * weights[:, j] * np.where(i == j, 1, 2)

        def of_points(values: Any) -> Any:
            return values.reshape(S, -1, *values.shape[1:])

        test_error, by_coarse_fit = products @ of_points(pairs.test_error).T
        q, squares = (products[0] @ of_points(x) for x in (pairs.q, pairs.fitted()))
        overlaps = self.square_loss.overlaps(solutions)
        residuals = (of_points(x.residual).max(axis=1) for x in (at, solutions.errors, pairs))
        values = {
            "test_error": test_error,
            "training_error": squares.sum(axis=-1),
            **{name: weights[0] @ of_points(overlaps[name]) for name in ("m", "zeta", "psi", "xi")},
            "q1": B @ triangle.unpack(q) @ B.T,
            "q2": q[:, triangle.size :],
            "residual": np.maximum.reduce(list(residuals)),
            "iterations": of_points(at.iterations).max(axis=1),
        }
        return values, by_coarse_fit, q, squares

    def _pairs(
        self, at: Resolvent, solutions: SquareLossSolution, i: Indices, j: Indices
    ) -> ResidualErrors:
        """Compute covariances of the residuals of ridges i and j, each of shape (P,)."""
        square_loss, equations, both = self.square_loss, self.square_loss.equations, (i, j)
        one, other = (equations.response(at.V_hat[k], at.V[k]) for k in both)
        squared = at.contraction[i] * at.contraction[j]
        points = equations.points(at.alpha[i], at.ridge[i])
        H = equations.hats_derivative(np.sqrt(squared), points)
        joint = replace(at.at(i), V=(at.V[i] + at.V[j]) / 2, T=one.derivative(other), H=H)
        means = solutions.mean.at(i), solutions.mean.at(j)
        sources = square_loss.penalty.sources(one, other, *means)
        return square_loss.residual_errors(joint, squared, sources, means)
