"""The question `from_features`: ridge regression on the features of any network."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from giantstep.problems.domains import Several
from giantstep.problems.samples import read_features
from giantstep.progress import Progress, bar
from giantstep.questions.arguments import OPTIMAL, Many, argument
from giantstep.questions.costs import check_cost, cost_of_subsets
from giantstep.questions.declaration import SIMULATION_HOURS
from giantstep.questions.from_data import (
    POSITIVE_RIDGES,
    RIDGES,
    at_best_ridge,
    error_table,
    label_remarks,
    predicted,
)
from giantstep.questions.product import Result
from giantstep.questions.question import question
from giantstep.validation import COUNT, Interval, check_value

SAMPLES = argument("from_features", "samples", Several(COUNT), Many.TOGETHER)
# Default numbers of samples, as shares of those given.
_SHARES = 0.125, 0.25, 0.5, 1.0, 1.5
# Largest number of samples, over that of those given.
_FURTHEST = 2


@question(SAMPLES, POSITIVE_RIDGES)
def from_features(
    Phi: ArrayLike,
    y: ArrayLike,
    samples: ArrayLike | None = None,
    ridge: ArrayLike = 0.1,
    *,
    max_hours: float = SIMULATION_HOURS,
    max_memory: float | None = None,
    progress: Progress = bar,
) -> Result:
    """Predict the errors of `argmin |y - Phi a|^2 + ridge |a|^2` for other numbers of samples.

    Nothing is assumed of the features: they may be the last hidden layer of any network, computed
    on samples that it was not trained on. No readout is fitted on subsets; leverages suffice
    (docs/data.md).

    Parameters
    ----------
    Phi : array_like, shape (N, p)
        Features, a row for each sample, used as they are; a column of ones is a bias.
    y : array_like, shape (N,) or (N, C)
        Labels, or C outputs: one-hot rows for classes. Leverages do not depend on them, so that
        many outputs take hardly longer than one.
    samples : int or array_like, optional
        n, up to 2 N. Above N the equations are continued, to predict the errors with more samples.
    ridge : float, array_like or "optimal"
        Penalty lambda > 0, without a factor 1/n; "optimal" is that of the least test error.
    max_hours, max_memory : float
        As in `simulate`.
    progress : callable, optional
        As in `simulate`.

    Returns
    -------
    xarray.Dataset
        `test_error`, of samples outside the fit, and `training_error`, squares summed over outputs;
        `classification_error`, up to N, of labels +1 and -1 (another sign) or one-hot rows (another
        largest output; outputs are taken as independent, which was up to 20 % low on digits). NaN
        where the equations have no solution, as for n far above N beside p close to N.

    Raises
    ------
    InvalidParametersError
        Listing all invalid arguments.
    CostError
        If it takes more than is allowed.

    Examples
    --------
    >>> import numpy as np
    >>> import giantstep
    >>> rng = np.random.default_rng(0)
    >>> Phi = np.tanh(rng.normal(size=(600, 20)) @ rng.normal(size=(20, 60)) / 4)
    >>> y = np.sign(Phi[:, 0] + Phi[:, 1] * Phi[:, 2])
    >>> found = giantstep.from_features(Phi, y, samples=[100, 600], ridge=1)
    >>> bool(found.test_error[1] < found.test_error[0])
    True
    """
    features, labels = read_features(Phi, y)
    given = len(features)
    if samples is None:
        samples = [max(1, round(share * given)) for share in _SHARES]
    check_value("samples", samples, Several(Interval(1, _FURTHEST * given, whole=True)))
    counts = [*map(int, np.atleast_1d(samples))]
    ridges = RIDGES if ridge == OPTIMAL else np.atleast_1d(ridge).tolist()
    fits = len(counts) * len(ridges) * labels[0].size
    check_cost(cost_of_subsets(given, features.shape[1], fits), max_hours, max_memory)
    with threadpool_limits(1):
        errors = predicted(features, labels, (counts, ridges), progress)
    data = error_table(errors, labels, {"samples": counts, "ridge": ridges})
    data, remarks = at_best_ridge(data, ridge, "test_error")
    return data.assign_attrs(features=features.shape[1]), label_remarks(labels) + remarks
