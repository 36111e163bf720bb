"""The question `solve`: errors and overlaps by the theory."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import ArrayLike

from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem
from giantstep.progress import Progress, bar
from giantstep.questions.arguments import (
    ALPHA,
    CROSS_VALIDATED,
    DERIVATIVES,
    ENSEMBLE,
    RIDGE,
    THEORIES,
)
from giantstep.questions.product import Result
from giantstep.questions.question import question
from giantstep.questions.request import solve_all
from giantstep.theory.optima import TEST_ERROR


@question(ALPHA, RIDGE, *THEORIES, DERIVATIVES, CROSS_VALIDATED, ENSEMBLE)
def solve(
    problem: Problem,
    alpha: ArrayLike = 1.0,
    ridge: ArrayLike = 0.1,
    *,
    loss: str = SQUARE,
    stop_at: ArrayLike | None = None,
    bulk: str | None = None,
    dimension: float = math.inf,
    by: str = TEST_ERROR,
    derivatives: bool = False,
    cross_validation: bool = False,
    ensemble: float | None = None,
    progress: Progress = bar,
) -> Result:
    """Compute errors and overlaps by the theory: Result 3.3, or Appendix C for other losses.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha : float or array_like, shape (A,)
        Sample complexity n/d of the readout's training set, > 0.
    ridge : float, array_like, shape (R,), "optimal", "gcv", "leave_one_out" or "k_fold"
        Penalty lambda >= 0, without a factor 1/n; only the square loss may have none. "optimal"
        is the ridge of the least error at each alpha, and the others that which cross-validation
        chooses: `by`.
    loss : str
        What the readout minimises: "square", "huber", "huber:0.5", "log_cosh", "quantile:0.5",
        "hinge", "logistic", or your own, named by `own_loss`; or "gradient_flow",
        by gradient flow on the square loss for the time 1/ridge.
    stop_at : float, array_like, shape (R,), or "optimal", optional
        Time of gradient flow on the readout, in place of a ridge: docs/early-stopping.md.
    bulk : {"trained", "isotropic"}, optional
        Bulk of the first layer: trained, that of networks, as the batches leave its rows (default
        for a protocol), or isotropic, as in the paper (default for features given directly).
    dimension : float
        Dimension d of the inputs, >= 2, where the means m of the readout cost something (theory.md
        section 12). By default the limit d -> infinity. A step smaller than the giant one needs it.
    by : {"test_error", "classification_error", "leave_one_out", "gcv", "k_fold"}
        The error that an optimal ridge minimises: the squared one; of a sign target, the 0-1 error;
        or what cross-validation finds, with five folds for "k_fold".
    derivatives : bool
        Whether to differentiate the test error by all parameters that are numbers:
        docs/sensitivities.md. Those at a best ridge are taken at that fixed ridge, since its own
        change adds nothing to first order.
    cross_validation : bool
        Whether to add the error of five-fold cross-validation, which takes twice as long.
    ensemble : float, optional
        Number K of networks, >= 1 or infinity, that are averaged: docs/ensembles.md. They share
        batches and training set; of the square loss.
    progress : callable, optional
        As in `sweep`.
    max_hours, max_memory : float, optional
        Core-hours, and GiB of memory, beyond which a question is refused; by default 0.05 hours for
        theory alone and one hour with networks, and the memory of this machine.

    Returns
    -------
    xarray.Dataset
        `test_error`, `training_error` and `leave_one_out` (squared errors), for the square loss
        `gcv`, for others `test_loss` and `training_loss`, for a sign target and spikes of one
        direction `classification_error`; the overlaps `m`, `zeta`, `psi`, `xi`, `q1`, `q2`, `V1`,
        `V2`; `reliability`, the estimated relative corrections that the theory leaves out, added in
        quadrature, and each of them, and `reliable_dimension`, from which on it should be below 5
        %; of inputs with a covariance `chi_2`, `chi_3`, `chi_rows` and `effective_dimension`,
        docs/structured-inputs.md; `status`, `residual`, `quadrature_error` and `iterations`. With
        `derivatives`, `derivative` of the test error, along `parameter`; with `cross_validation`,
        `k_fold`; with `ensemble`, `ensemble_error`, `variance_of_weights`, `variance_of_samples`
        and `squared_bias`. All have the dimensions of those of `alpha` and `ridge` that are arrays,
        and of several groups of neurons. Points that failed hold NaN, with the reason in `status`
        and the attribute `remarks`. With `ridge="optimal"`, the ridge is a coordinate along alpha.

    Raises
    ------
    InvalidParametersError
        Listing all invalid arguments.

    Examples
    --------
    >>> import giantstep
    >>> problem = giantstep.Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1)
    >>> giantstep.solve(problem, alpha=1, ridge=0.1).test_error.round(4).item()
    0.0407
    >>> theory = giantstep.solve(problem, alpha=[0.9, 3], ridge=[0.01, 0.1])
    >>> theory.test_error.sel(ridge=0.1).values.round(6)
    array([0.041628, 0.031526])
    >>> best = giantstep.solve(problem, alpha=[1, 3], ridge="optimal", dimension=500)
    >>> best.ridge.values.round(2)
    array([0.27, 0.13])
    """
    given = {"alpha": alpha, "ridge": ridge, "loss": loss, "bulk": bulk}
    given |= {"dimension": dimension, "by": by}
    options: dict[str, Any] = {"derivatives": derivatives, "cross_validation": cross_validation}
    return solve_all(problem, given, progress, **options, ensemble=ensemble, compared=True)
