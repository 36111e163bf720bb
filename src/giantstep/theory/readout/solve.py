"""Overlaps and errors on a grid: Result 3.3, and Appendix C for other losses."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.convex_losses import Loss
from giantstep.problems.grid import Grid
from giantstep.problems.losses import FLOW, SQUARE, lookup_loss
from giantstep.problems.problem import Problem, check_loss, check_theory_of_loss
from giantstep.theory.readout.columns import Columns
from giantstep.theory.readout.convex_readout import ConvexReadout
from giantstep.theory.readout.prepared_layer import prepare_layer
from giantstep.theory.readout.readout import Readout
from giantstep.theory.readout.square_readout import SquareReadout
from giantstep.theory.readout.stopped_readout import StoppedReadout


def solve(
    problem: Problem, grid: Grid, bulk: str = ISOTROPIC, dimension: float = math.inf
) -> Columns:
    """Compute overlaps and errors on a grid: Result 3.3, or Appendix C for other losses.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
        A protocol is solved through its equivalent sRF (Result 3.1).
    grid : Grid
        Sample complexities, ridges and the loss.
    bulk : str
        One of `bulk_kind.BULKS`: "isotropic", as in the paper; "trained", with all that
        gradient steps do to the rows' covariance and to their norms.
    dimension : float
        Dimension d of the inputs, >= 2, where the means m of the readout cost something: theory.md
        section 12. By default the limit d -> infinity. A step smaller than the giant one needs it.

    Returns
    -------
    Columns
        Arrays of shape (alphas, ridges, ...). Points that failed hold NaN; `status` is the reason.

    Raises
    ------
    InvalidParametersError
        For an unknown bulk, a trained bulk of features given directly, a dimension below 2, or a
        loss that the labels do not allow.

    Examples
    --------
    >>> from giantstep import Protocol
    >>> from giantstep.problems.grid import Grid
    >>> problem = Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1)
    >>> solution = solve(problem, Grid(alpha=(0.9, 3.0), ridge=(0.1,)))
    >>> solution.test_error.round(6)
    array([[0.042504],
           [0.032518]])
    >>> solution.m.shape  # one group of neurons
    (2, 1, 1)
    >>> solve(problem, Grid(alpha=(0.9, 3.0), ridge=(0.1,)), dimension=200).test_error.round(3)
    array([[0.044],
           [0.033]])
    """
    alpha, ridge = np.meshgrid(np.asarray(grid.alpha), np.asarray(grid.ridge), indexing="ij")
    return readout_of(problem, bulk, grid.loss, dimension).solve(alpha, ridge)


def readout_of(
    problem: Problem, bulk: str = ISOTROPIC, loss: str = SQUARE, dimension: float = math.inf
) -> Readout:
    """Prepare the readout that minimises a loss; the arguments are those of `solve`.

    Examples
    --------
    >>> import numpy as np
    >>> from giantstep import Protocol
    >>> readout = readout_of(Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1))
    >>> readout.solve(alpha=np.array([0.9, 3.0]), ridge=np.array([0.1, 0.1])).test_error.round(6)
    array([0.042504, 0.032518])
    """
    check_loss(problem, loss)
    check_theory_of_loss(problem, loss)
    return _prepared(problem, bulk, loss, lookup_loss(loss), dimension)


@lru_cache(maxsize=16)  # callers often solve one problem point by point
def _prepared(problem: Problem, bulk: str, name: str, loss: Loss, dimension: float) -> Readout:
    """Prepare a readout; a name may be given to another loss later."""
    layer = prepare_layer(problem, bulk, dimension)
    if name == SQUARE:
        return SquareReadout(layer)
    return StoppedReadout(layer) if name == FLOW else ConvexReadout(layer, loss)
