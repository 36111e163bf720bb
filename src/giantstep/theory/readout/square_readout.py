"""The readout of the square loss: Result 3.3."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.linear_systems import largest
from giantstep.theory.readout.ensembles import sources_of_variance
from giantstep.theory.readout.fixed_point import Resolvent, solve_resolvent
from giantstep.theory.readout.readout import Estimate, Readout, Solved
from giantstep.theory.readout.square_loss import SquareLoss

# Changes of the test error below this fraction of the label's second moment are rounding.
_ROUNDING = 1e-14


class SquareReadout(Readout):
    """The readout that minimises the square loss with a ridge, or none."""

    _last: Resolvent | None = None  # what was solved last

    def _resolvent(self, alpha: Array, ridge: Array) -> Resolvent:
        """Solve the self-consistent equations at S points, unless they were solved last."""
        last = self._last
        if last and np.array_equal([last.alpha, last.ridge], [alpha, ridge]):
            return last
        start = self.near._resolvent(alpha, ridge).V_hat.copy() if self.near else None
        self._last = solve_resolvent(self.square_loss.equations, alpha, ridge, start)
        return self._last

    def estimate(self, alpha: Array, ridge: Array) -> Estimate:
        """Compute test errors at S points."""
        square_loss, at = self.square_loss, self._resolvent(alpha, ridge)
        errors = square_loss.order_parameters(at).errors
        error = np.where(at.converged, errors.test_error, np.nan)
        return error, square_loss.fluctuation(at, errors.fitted()), self.features

    def sources_of_variance(self, alpha: Array, ridge: Array) -> dict[str, Array]:
        """Compute `ensembles.sources_of_variance` at points of one shape."""
        return self.in_batches(partial(sources_of_variance, self.square_loss), alpha, ridge)

    def find(self, alpha: Array, ridge: Array) -> Solved:
        """Solve S points."""
        square_loss, at = self.square_loss, self._resolvent(alpha, ridge)
        solution = square_loss.order_parameters(at)
        errors, overlaps = solution.errors, square_loss.overlaps(solution)
        fitted, equations = errors.fitted(), square_loss.equations
        residuals = fitted @ np.ones_like(square_loss.weight)
        singular = (at.ridge == 0) & (np.minimum(at.alpha, equations.rank) < equations.beta)
        values = {
            "test_error": errors.test_error,
            "training_error": at.scale**2 * residuals,
            **overlaps,
            "V1": overlaps["V1"] / at.scale[:, None, None],
            "V2": np.where(singular[:, None], np.inf, overlaps["V2"]),
            "residual": np.maximum(at.residual, errors.residual),
            "iterations": at.iterations,
            "leave_one_out": errors.fresh,
            "gcv": residuals / (at.contraction @ square_loss.weight) ** 2,
        }
        shift, change = changes_on_finer_rule(self.layer.finer.square_loss, at, errors.test_error)
        return Solved(
            values,
            at.converged,
            shift,
            change,
            square_loss.fluctuation(at, fitted),
            square_loss.variance(errors.q),
        )


def changes_on_finer_rule(
    fine: SquareLoss, at: Resolvent, test_error: Array
) -> tuple[Array, Array]:
    """Compute the relative changes of hats and test error on a finer rule, each of shape (S,).

    The hats are evaluated once on the finer rule, at the solution on the coarser one. Means,
    variances and test error are computed anew from them: the change of the error shows how
    sensitive it is to errors of quadrature.
    """
    equations = fine.equations
    points = equations.points(at.alpha, at.ridge)
    V, T = equations.variances(at.V_hat, points)
    V_hat, contraction = equations.hats(V, points)
    shift = largest(V_hat - at.V_hat) / largest(V_hat)
    slopes = equations.hats_derivative(contraction, points)
    again = replace(at, V=V, T=T, V_hat=V_hat, contraction=contraction, H=slopes)
    change = np.abs(fine.order_parameters(again).errors.test_error - test_error)
    least = _ROUNDING * fine.features.label_power
    return shift, np.where(change < least, 0.0, change / np.maximum(np.abs(test_error), least))
