"""The question `from_data`: networks on your own samples, and what their features predict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from giantstep.arrays import Array
from giantstep.problems.covariance import IDENTITY
from giantstep.problems.domains import ALPHA0, POSITIVE_RIDGE, Several
from giantstep.problems.gaussian_model import gaussian_model
from giantstep.problems.grid import Grid
from giantstep.problems.parameter import parameters_of
from giantstep.problems.protocol import Protocol
from giantstep.problems.samples import read_samples
from giantstep.problems.sizes import Sizes, check_sizes
from giantstep.progress import Progress, bar
from giantstep.questions.arguments import ALPHA, BEST_RIDGE, NETWORKS, OPTIMAL, SEED, arguments_of
from giantstep.questions.costs import check_cost, cost_of_subsets
from giantstep.questions.declaration import SIMULATION_HOURS
from giantstep.questions.product import Result
from giantstep.questions.question import question
from giantstep.questions.remarks import OF_COVARIANCE, TEXTS, edge_remarks, remark_where
from giantstep.questions.solve import solve
from giantstep.questions.statistics import summary, z_scores
from giantstep.simulation.data_networks import train_on_data
from giantstep.theory.readout.subsets import subset_errors
from giantstep.validation import Interval, InvalidParametersError, refusal

# Least number of samples that are left to test.
_TESTS = 30
# Labels of at most so many values may be classes.
_CLASSES = 20
# Errors that are predicted and measured; the last one for classes only.
ERRORS = ("test_error", "training_error", "classification_error")
# Candidates for the best ridge.
RIDGES = tuple(np.geomspace(1e-4, 1e2, 13).tolist())

_OF_STEP = arguments_of(parameters_of(Protocol))
_STEP = [_OF_STEP[name] for name in ("activation", "learning_rate", "alpha0", "beta")]
_STEP[1] = replace(_STEP[1], note="the step size is this times d")
_STEP[2] = replace(_STEP[2], domain=Interval(0, ALPHA0.upper), note="0 leaves out the step")
POSITIVE_RIDGES = replace(BEST_RIDGE, domain=Several(POSITIVE_RIDGE))


@question(*_STEP, ALPHA, POSITIVE_RIDGES, NETWORKS, SEED)
def from_data(
    X: ArrayLike,
    y: ArrayLike,
    activation: str = "tanh",
    learning_rate: float = 1.0,
    alpha0: float = 1.0,
    beta: float = 1.0,
    alpha: ArrayLike = 1.0,
    ridge: ArrayLike = 0.1,
    *,
    networks: int = 8,
    seed: int = 0,
    max_hours: float = SIMULATION_HOURS,
    max_memory: float | None = None,
    progress: Progress = bar,
) -> Result:
    """Train networks on given samples, and predict their errors from the features of the samples.

    Each network splits the samples at random: `alpha0` d for the step, `alpha` d for the readout,
    the rest to test. The prediction needs no model of the inputs. Beside it is the theory of
    Gaussian inputs with the same covariance.

    Parameters
    ----------
    X : array_like, shape (M, d)
        Inputs, a row for each sample. Columns are centred, those that are constant left out, and
        all are scaled by one factor, such that the covariance has the trace d.
    y : array_like, shape (M,) or (M, C)
        Labels, used as they are; of labels +1 and -1 the 0-1 error is measured, too. Or C outputs,
        such as one-hot rows for classes: the step moves each neuron along one of them in turn, and
        errors are as in `from_features`, without the Gaussian theory.
    activation : str or callable
        As in `Protocol`.
    learning_rate : float
        Step size over d, >= 0.
    alpha0 : float
        Samples of the step over d, finite; 0 leaves out the step. Networks with and without it
        share initial weights and training sets.
    beta : float
        Width over d, > 0.
    alpha : float or array_like
        Samples of the readout's training set over d, > 0.
    ridge : float, array_like or "optimal"
        Penalty lambda > 0, without a factor 1/n; "optimal" is that of the least predicted error.
    networks : int
        Independent networks, each with a split of its own.
    seed : int
        Seed of all random numbers.
    max_hours, max_memory : float
        As in `simulate`.
    progress : callable, optional
        As in `simulate`.

    Returns
    -------
    xarray.Dataset
        `test_error` and `training_error` as predicted for each network after its step, the mean
        over networks; `simulated_test_error_mean` and `simulated_test_error_stderr` of the
        networks themselves; `z_score_test_error`; likewise `classification_error`;
        `linear_test_error` and so on, predicted for ridge regression on the inputs over sqrt(d),
        with the same number of samples and ridge, or its own best. All errors are on the labels
        that were given, with their noise. Several values of `activation`, `learning_rate`, `alpha0`
        and `beta` are dimensions. Of an odd activation, the same errors as
        `gaussian_test_error` and so on, by the theory of Gaussian inputs and labels that resemble
        the samples, with `chi_2`, `chi_3`, `chi_rows` and `effective_dimension`; and as
        `isotropic_test_error` without a covariance.

    Raises
    ------
    InvalidParametersError
        Listing all invalid arguments, or if there are too few samples.
    CostError
        If it takes more than is allowed.

    Examples
    --------
    >>> import giantstep
    >>> rng = np.random.default_rng(0)
    >>> X = rng.exponential(size=(1000, 40))
    >>> y = np.sign(X @ rng.normal(size=40))
    >>> without, step = (giantstep.from_data(X, y, alpha0=x, alpha=[1, 3]) for x in (0, 2))
    >>> bool((step.test_error < without.test_error).all())
    True
    >>> bool((abs(step.z_score_test_error) < 5).all())
    True
    """
    inputs, labels = read_samples(X, y)
    grid = Grid(alpha, RIDGES if ridge == OPTIMAL else ridge)  # type: ignore[arg-type]
    # No target is drawn from: any will do.
    protocol = Protocol(activation, "linear", learning_rate, alpha0, beta)
    _check_counts(protocol, grid, inputs, labels)
    count = len(grid.alpha) * len(grid.ridge) * labels[0].size * networks
    width = math.ceil(protocol.beta * inputs.shape[1])
    check_cost(cost_of_subsets(len(inputs), width, count), max_hours, max_memory)
    at, errors = ([Sizes(inputs.shape[1]).count(x) for x in grid.alpha], grid.ridge), []
    with threadpool_limits(1):
        for k in range(networks):
            features, left, measured = train_on_data(protocol, inputs, labels, grid, seed, k)
            errors.append([predicted(features, left, at), measured])
            progress((k + 1) / networks)
        linear = predicted(inputs / math.sqrt(inputs.shape[1]), labels, at)
    points = {"alpha": grid.alpha, "ridge": grid.ridge}
    baseline = error_table(linear, labels, points, "linear_{}").drop_vars("linear_training_error")
    of_networks = np.array(errors)
    theory = error_table(of_networks[:, 0], labels, points).mean("network")
    means = summary(error_table(of_networks[:, 1], labels, points, "simulated_{}"))
    gaussian, remarks = _gaussian_theory(protocol, inputs, labels, grid, [*map(str, theory)])
    data = xr.merge([theory, means, z_scores(theory, means), gaussian])
    data, at_points = at_best_ridge(data, ridge, "test_error")
    baseline, _ = at_best_ridge(baseline, ridge, "linear_test_error")
    data = data.merge(baseline, compat="override")
    data = data.assign_coords(alpha0=alpha0, total_samples=data["alpha"] + alpha0)
    about = {"dimension": inputs.shape[1], "networks": networks, "seed": np.int64(seed)}
    return data.assign_attrs(about), remarks + label_remarks(labels) + at_points


def predicted(
    features: Array, labels: Array, at: Sequence[Sequence[float]], report: Progress = bar
) -> Array:
    """Predict the errors of fits at all counts of samples and ridges, shape (3, counts, ridges)."""
    errors, sizes = list[Array](), [*map(len, at)]
    for count, ridge in product(*at):
        errors.append(subset_errors(features, labels, int(count), ridge))
        report(len(errors) / math.prod(sizes))
    return np.transpose(errors).reshape(-1, *sizes)


def error_table(
    errors: Array, labels: Array, points: Mapping[str, Sequence[Any]], form: str = "{}"
) -> xr.Dataset:
    """Name errors, shape (..., 3, *points), of networks if there is a further dimension.

    Those of classification are left out if labels are no classes.
    """
    names = ERRORS if _has_classes(labels) else ERRORS[:-1]
    dims = ("network", *points)[4 - errors.ndim :]
    named = {form.format(name): (dims, errors[..., k, :, :]) for k, name in enumerate(names)}
    return xr.Dataset(named, {name: list(values) for name, values in points.items()})


def at_best_ridge(data: xr.Dataset, ridge: Any, name: str) -> tuple[xr.Dataset, list[str]]:
    """Select the ridge of the least error if it is "optimal", and remark where points failed."""
    remarks = remark_where(data[name].isnull(), "leverages")
    if ridge != OPTIMAL:
        return data, remarks
    data = data.isel(ridge=data[name].fillna(np.inf).argmin("ridge"))
    at_end = data["ridge"].isin([RIDGES[0], RIDGES[-1]])
    return data, remarks + edge_remarks(at_end, "best ridge", np.array(RIDGES))


def _has_classes(labels: Array) -> bool:
    """Return whether labels are +1 and -1, or every row has one output that is largest."""
    if labels.ndim == 1:
        return bool(np.all(np.abs(labels) == 1))
    ordered = np.unique(labels)
    return ordered.size == 2 and bool(np.all((labels == ordered[1]).sum(axis=1) == 1))


def label_remarks(labels: Array) -> list[str]:
    """Remark on how to state classes, if labels look like classes."""
    few = labels.ndim == 1 and len(np.unique(labels)) <= _CLASSES
    return [TEXTS["classes"]] * (few and not _has_classes(labels))


def _gaussian_theory(
    protocol: Protocol, inputs: Array, labels: Array, grid: Grid, names: Sequence[str]
) -> tuple[xr.Dataset, list[str]]:
    """Solve the theory of Gaussian inputs with the covariance of the samples, and without one."""
    if labels.ndim > 1:
        return xr.Dataset(), [TEXTS["one_output"]]
    if len(inputs) < inputs.shape[1] + _TESTS:
        return xr.Dataset(), [TEXTS["few_samples"]]
    try:
        model, dimension = gaussian_model(protocol, inputs, labels), inputs.shape[1]
        isotropic = replace(model, covariance=IDENTITY)
        both = [solve(x, grid.alpha, grid.ridge, dimension=dimension) for x in (model, isotropic)]
    except InvalidParametersError as error:
        return xr.Dataset(), [f"The Gaussian theory is left out: {error}"]
    found, remarks = both[0][[*OF_COVARIANCE]], both[0].attrs.get("remarks", "").splitlines()
    for kind, theory in zip(("gaussian", "isotropic"), both, strict=True):
        theory["test_error"] += model.noise
        found = found.assign({f"{kind}_{k}": (theory[k].dims, theory[k].values) for k in names})
    of_theory = [f"Of the Gaussian theory: {x}" for x in remarks]
    return found.drop_vars({*found.coords} - {"alpha", "ridge"}), of_theory


def _check_counts(protocol: Protocol, grid: Grid, inputs: Array, labels: Array) -> None:
    """Refuse sizes that are empty, more outputs than neurons, and samples of which none are left.

    Raises
    ------
    InvalidParametersError
    """
    count, dimension = inputs.shape
    check_sizes(protocol, grid, sizes := Sizes(dimension))
    if labels[0].size > (width := sizes.count(protocol.beta)):
        raise refusal("y", f"{labels[0].size} columns", f"at most beta d = {width}, one a neuron")
    needed = (protocol.alpha0 + max(grid.alpha)) * dimension + _TESTS
    if count < needed:
        allowed = f"at least (alpha0 + alpha) d + {_TESTS} = {needed:g}, d = {dimension} columns"
        raise refusal("X", f"{count} rows", allowed)
