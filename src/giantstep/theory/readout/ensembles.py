"""Errors of averages over networks or training sets, and where variance comes from.

theory.md section 26. Networks of an ensemble have initial weights of their own, and share batches
and training set. The mean product of the residuals of two of them is that of a pair of readouts at
fixed q: what acts through q is a neuron's own.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from giantstep.arrays import Array
from giantstep.theory.readout.fixed_point import Resolvent, solve_resolvent
from giantstep.theory.readout.square_loss import SquareLoss, SquareLossSolution
from giantstep.theory.rows.interface import Hats, Pair


class OtherNetworks(Pair):
    """A pair of readouts on the same samples, and on neurons that are independent."""

    def __init__(self, pair: Pair, split: int) -> None:
        self.one, self.other, self.pair, self.split = pair.one, pair.other, pair, split

    @property
    def response(self) -> Array:
        """T of `Resolvent` at fixed q: without what moves V1 along with V2."""
        T, k = self.pair.response, self.split
        fixed = np.zeros_like(T)
        fixed[:, :k, :k] = T[:, :k, :k] - T[:, :k, k:] @ np.linalg.solve(T[:, k:, k:], T[:, k:, :k])
        return fixed

    def sources(self, hats: Hats, others: Hats) -> tuple[Array, Array]:
        """Compute what the overlaps add to the variances at fixed q."""
        return self._fixed(self.pair.sources(hats, others))

    def screened_sources(self, rows: Array, w: Array, v: Array) -> tuple[Array, Array]:
        """Compute what the mean rows add at fixed q."""
        return self._fixed(self.pair.screened_sources(rows, w, v))

    def _fixed(self, sources: tuple[Array, Array]) -> tuple[Array, Array]:
        kept = np.arange(sources[0].shape[1]) < self.split
        return sources[0] * kept, sources[1] * kept


def sources_of_variance(rule: SquareLoss, alpha: Array, ridge: Array) -> dict[str, Array]:
    """Compute what averaging takes off the test error at S points, and what no average does.

    Parameters
    ----------
    rule : SquareLoss
    alpha, ridge : Array, shape (S,)

    Returns
    -------
    dict of Array, shape (S,)
        `variance_of_weights`, which an infinite ensemble of networks does not have;
        `variance_of_samples`, which the average of one network over training sets does not have;
        and `squared_bias`, the error of an average over both. What depends on both is part of each.
    """
    at = solve_resolvent(rule.equations, alpha, ridge)
    solution = rule.order_parameters(at)
    one, split = solution.errors.test_error, rule.equations.triangle.size
    pair = solution.response.pair(solution.response)
    networks = OtherNetworks(pair, split)
    errors = {
        "variance_of_weights": one - _mean_product(rule, at, solution, networks, True),
        "variance_of_samples": one - _mean_product(rule, at, solution, pair, False),
        "squared_bias": _mean_product(rule, at, solution, networks, False),
    }
    return {name: np.where(at.converged, values, np.nan) for name, values in errors.items()}


def _mean_product(
    rule: SquareLoss, at: Resolvent, solution: SquareLossSolution, pair: Pair, same_samples: bool
) -> Array:
    """Compute the mean product of the residuals of two readouts, on clean labels."""
    contraction = at.contraction**2 if same_samples else np.zeros_like(at.contraction)
    slopes = at.H if same_samples else np.zeros_like(at.H)
    at, means = replace(at, T=pair.response, H=slopes), (solution.mean, solution.mean)
    return rule.residual_errors(at, contraction, pair, means).test_error
