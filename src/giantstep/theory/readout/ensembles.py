"""Errors of averages over networks or training sets: the sources of variance.

theory.md section 26. Networks of an ensemble have initial weights of their own, and share batches
and training set. The mean product of the residuals of two of them is that of a pair of readouts at
fixed q, since what acts through q belongs to single neurons.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from giantstep.arrays import Array
from giantstep.theory.readout.fixed_point import solve_resolvent
from giantstep.theory.readout.square_loss import SquareLoss
from giantstep.theory.rows.interface import Sources


def sources_of_variance(square_loss: SquareLoss, alpha: Array, ridge: Array) -> dict[str, Array]:
    """Compute what averaging removes from the test error at S points, and what remains.

    Parameters
    ----------
    square_loss : SquareLoss
    alpha, ridge : Array, shape (S,)

    Returns
    -------
    dict of Array, shape (S,)
        `variance_of_weights`, which an infinite ensemble of networks does not have;
        `variance_of_samples`, which the average of one network over training sets does not have;
        and `squared_bias`, the error of an average over both. Variance that depends on both is part
        of each.
    """
    at = solve_resolvent(square_loss.equations, alpha, ridge)
    errors, mean, response = square_loss.order_parameters(at)
    sources = square_loss.penalty.sources(response, response, mean, mean)
    T, split = response.derivative(response), square_loss.equations.triangle.size
    # At fixed q: without the change of V1 that follows from that of V2.
    fixed, kept = np.zeros_like(T), np.arange(T.shape[-1]) < split
    through_q = np.linalg.solve(T[:, split:, split:], T[:, split:, :split])
    fixed[:, :split, :split] = T[:, :split, :split] - T[:, :split, split:] @ through_q
    fixed_sources = sources[0] * kept, sources[1] * kept

    def less(T: Array, sources: Sources, same_samples: bool) -> Array:
        """Compute the error less the mean product of the residuals of two readouts."""
        both = replace(at, T=T, H=same_samples * at.H)
        squared = same_samples * at.contraction**2
        of_two = square_loss.residual_errors(both, squared, sources, (mean, mean))
        return errors.test_error - of_two.test_error

    bias = errors.test_error - less(fixed, fixed_sources, False)
    found = {
        "variance_of_weights": less(fixed, fixed_sources, True),
        "variance_of_samples": less(T, sources, False),
        "squared_bias": bias,
    }
    return {name: np.where(at.converged, values, np.nan) for name, values in found.items()}
