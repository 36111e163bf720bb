"""The question `from_features`: ridge regression on the features of any network."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from giantstep.problems.domains import POSITIVE_RIDGE, Several
from giantstep.problems.samples import read_features
from giantstep.questions.arguments import BEST_RIDGE, OPTIMAL, Many, argument
from giantstep.questions.costs import SIMULATION_HOURS, check_cost, cost_of_subsets
from giantstep.questions.datasets import drop_fixed
from giantstep.questions.from_data import (
    RIDGES,
    best_ridge,
    has_classes,
    label_remarks,
    point_remarks,
)
from giantstep.questions.progress import Progress, progress_bar
from giantstep.questions.question import question
from giantstep.questions.values import read_numbers
from giantstep.theory.readout.subsets import subset_errors
from giantstep.validation import COUNT, Fault, Interval, raise_all
from giantstep.vocabulary import label

SAMPLES = argument("from_features", "samples", Several(COUNT), Many.TOGETHER)
# Of the samples that are given, by default.
_SHARES = 0.125, 0.25, 0.5, 1.0, 1.5
# How many times the given samples can be continued to.
_FURTHEST = 2
_NAMES = "test_error", "training_error", "classification_error"


@question(SAMPLES, BEST_RIDGE)
def from_features(
    Phi: ArrayLike,
    y: ArrayLike,
    samples: ArrayLike | None = None,
    ridge: ArrayLike = 0.1,
    *,
    max_hours: float = SIMULATION_HOURS,
    max_memory: float | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
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
        n, up to 2 N. Above N the equations are continued, to tell what more samples would bring.
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
        With everything that is wrong with the question.
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
    given, faults = len(features), list[Fault]()
    if samples is None:
        samples = [max(1, round(share * given)) for share in _SHARES]
    optimal = isinstance(ridge, str) and ridge == OPTIMAL
    most = Interval(1, _FURTHEST * given, whole=True)
    counts = read_numbers("samples", samples, most, faults)
    ridges = RIDGES if optimal else read_numbers("ridge", ridge, POSITIVE_RIDGE, faults)
    raise_all(faults)
    points = len(counts) * len(ridges)
    cost = cost_of_subsets(features.shape, points * labels[0].size)
    check_cost(cost, max_hours, max_memory)
    errors = np.empty((3, len(counts), len(ridges)))
    with threadpool_limits(1), progress_bar("points", progress) as report:
        for done, (i, j) in enumerate(np.ndindex(*errors.shape[1:]), 1):
            errors[:, i, j] = subset_errors(features, labels, int(counts[i]), ridges[j])
            report(done / points)
    named = {name: (("samples", "ridge"), each) for name, each in zip(_NAMES, errors, strict=True)}
    data = xr.Dataset(named, {"samples": [*map(int, counts)], "ridge": [*ridges]})
    if not has_classes(labels):
        data = data.drop_vars(_NAMES[-1])
    remarks = label_remarks(labels) + point_remarks(data["test_error"], optimal)
    if optimal:
        data = data.isel(ridge=best_ridge(data["test_error"]))
    fixed = [k for k, x in (("samples", samples), ("ridge", ridge)) if np.ndim(x) == 0]
    data = label(drop_fixed(data, fixed))
    about = {"title": "Ridge regression on given features", "features": features.shape[1]}
    return data.assign_attrs(about | ({"remarks": "\n".join(remarks)} if remarks else {}))
