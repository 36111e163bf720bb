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
        return error, found.fluctuation, self.nodes

    def find(self, alpha: Array, ridge: Array) -> Solved:
        """Solve S points, each by N ridges.

        Errors of quadrature are those of the ridge itself. The change of the test error with a
        coarser fit of the filter is far more than the error of the fit.
        """
        multiples, weights, first = stopping_filter()
        S, N, times = ridge.size, multiples.size, 1 / ridge
        square_loss, equations = self.square_loss, self.square_loss.equations
        ridges = multiples / times[:, None]
        at = solve_resolvent(equations, np.repeat(alpha, N), ridges.ravel())
        solutions = square_loss.order_parameters(at)
        i, j = np.triu_indices(N)
        start, B, triangle = N * np.arange(S)[:, None], equations.B, equations.triangle

        def of_points(values: Any) -> Any:
            return values.reshape(S, -1, *values.shape[1:])

        pairs = self._pairs(at, solutions, (start + i).ravel(), (start + j).ravel())
        products = weights[:, i] * weights[:, j] * np.where(i == j, 1, 2)
        test_error, by_coarse_fit = products @ of_points(pairs.test_error).T
        q, power = (products[0] @ of_points(x) for x in (pairs.q, pairs.power()))
        overlaps, residuals = square_loss.overlaps(solutions), (at, solutions.errors, pairs)
        values = {
            "test_error": test_error,
            "training_error": power.sum(axis=-1),
            **{name: weights[0] @ of_points(overlaps[name]) for name in ("m", "zeta", "psi", "xi")},
            "q1": B @ triangle.unpack(q[:, : triangle.size]) @ B.T,
            "q2": q[:, triangle.size :],
            "residual": np.max([of_points(x.residual).max(axis=1) for x in residuals], axis=0),
            "iterations": of_points(at.iterations).max(axis=1),
        }
        one = at.at(start[:, 0] + first)
        by_one = square_loss.order_parameters(one).errors.test_error
        shift, change = changes_on_finer_rule(self.layer.finer.square_loss, one, by_one)
        of_fit = np.abs(by_coarse_fit / test_error - 1)
        return Solved(
            values,
            of_points(at.converged).all(axis=1),
            shift,
            np.maximum(change, of_fit),
            square_loss.fluctuation(one, power),
            square_loss.variance(q),
        )

    def _pairs(
        self, at: Resolvent, solutions: SquareLossSolution, i: Indices, j: Indices
    ) -> ResidualErrors:
        """Compute covariances of the residuals of ridges i and j, each of shape (P,)."""
        square_loss, equations, both = self.square_loss, self.square_loss.equations, (i, j)
        V1_hat = equations.triangle.unpack(at.V_hat[:, : equations.triangle.size])
        one, other = (equations.bulk.spike_response(V1_hat[k], at.V[k]) for k in both)
        squared = at.contraction[i] * at.contraction[j]
        points = equations.points(at.alpha[i], at.ridge[i])
        H = equations.hats_derivative(np.sqrt(squared), points)
        joint = replace(at.at(i), V=(at.V[i] + at.V[j]) / 2, T=one.derivative(other), H=H)
        means = solutions.mean.at(i), solutions.mean.at(j)
        sources = square_loss.penalty.sources(one, other, means[0].hats, means[1].hats)
        return square_loss.residual_errors(joint, squared, sources, means)
