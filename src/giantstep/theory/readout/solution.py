"""The solution on a grid, with the status of each point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from giantstep.arrays import Array
from giantstep.theory.readout.fixed_point import ACCEPTED
from giantstep.theory.readout.status import Status

# Largest relative change of the test error of a resolved point with twice as many nodes.
ERROR_RESOLVED = 1e-3
# Squared errors may be negative by rounding, but by no more than this.
_NEGATIVE_ERROR = -1e-9


@dataclass(frozen=True)
class Solution:
    """Theory on a grid: arrays of shape (alphas, ridges, ...), which hold NaN where it failed.

    Attributes
    ----------
    test_error, training_error : Array, shape (alphas, ridges)
        Equation (25), and its counterpart on the training set: squared errors, for any loss.
    test_loss, training_loss : Array, shape (alphas, ridges)
        The loss that was minimised, which is half the error for the square loss. On the test set
        the labels carry no noise.
    leave_one_out, gcv : Array, shape (alphas, ridges)
        What cross-validation finds, docs/cross-validation.md. For losses other than the square
        `gcv` is NaN, and for gradient flow both are.
    m, zeta, psi, q2, V2 : Array, shape (alphas, ridges, G)
        The overlaps, equation (17) and theory.md section 4, for each group of neurons.
    xi : Array, shape (alphas, ridges, G)
        Overlap with the change of the neurons' norms, docs/trained-bulk.md; zero for an isotropic
        bulk, but for what several spikes add to the learned function.
    q1, V1 : Array, shape (alphas, ridges, G, G)
        Likewise, for each pair of groups.
    reliability_... : Array, shape (alphas, ridges)
        Estimated relative corrections that the theory leaves out: `theory.reliability`.
    residual : Array, shape (alphas, ridges)
        Largest relative residual of all the equations.
    quadrature_error : Array, shape (alphas, ridges)
        Relative change of the hats and of the test error when the number of nodes is doubled.
    chi_2, chi_3, chi_rows, effective_dimension : Array, shape (alphas, ridges), or None
        Of inputs with a covariance: `leading_chaoses`.
    iterations, status : integer arrays, shape (alphas, ridges)
        Number of Newton steps, and a `Status`, of each point.
    """

    test_error: Array
    training_error: Array
    test_loss: Array
    training_loss: Array
    leave_one_out: Array
    gcv: Array
    m: Array
    zeta: Array
    psi: Array
    xi: Array
    q1: Array
    q2: Array
    V1: Array
    V2: Array
    reliability_unseen: Array
    reliability_sparse: Array
    reliability_mean: Array
    reliability_quadratic: Array
    reliability_first_batch: Array
    reliability_own_output: Array
    reliability_chance: Array
    residual: Array
    quadrature_error: Array
    iterations: NDArray[np.int64]
    status: NDArray[np.int64]
    chi_2: Array | None = None
    chi_3: Array | None = None
    chi_rows: Array | None = None
    effective_dimension: Array | None = None


def collect_points(values: dict[str, Array], shape: tuple[int, ...]) -> Solution:
    """Arrange S points on a grid, and set those that failed to NaN.

    Parameters
    ----------
    values : dict of Array, shape (S, ...)
        All fields of a `Solution` but the status, and whether each point is `converged` and
        `resolved`, as 0 or 1.
    shape : tuple of int
        Of the grid.
    """
    stable = np.isfinite(values["test_error"]) & (values["residual"] <= ACCEPTED)
    for name in ("test_error", "training_error"):
        stable &= values[name] >= _NEGATIVE_ERROR
        values[name] = np.maximum(values[name], 0.0)
    status = np.where(stable, int(Status.CONVERGED), int(Status.UNSTABLE))
    status[stable & ~(values.pop("resolved") > 0)] = Status.UNRESOLVED
    status[~(values.pop("converged") > 0)] = Status.NOT_CONVERGED
    iterations = values.pop("iterations").astype(np.int64)
    failed = np.flatnonzero(status != Status.CONVERGED)
    if failed.size:
        for name in values.keys() - {"residual", "quadrature_error"}:
            values[name][failed] = np.nan
    return Solution(
        **{name: value.reshape(shape + value.shape[1:]) for name, value in values.items()},
        iterations=iterations.reshape(shape),
        status=status.reshape(shape),
    )
