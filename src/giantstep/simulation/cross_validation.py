"""What cross-validation finds on the training sets of simulated networks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import svd

from giantstep.arrays import Array
from giantstep.problems.convex_losses import Loss
from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE, lookup_loss
from giantstep.simulation.convex_readout import ConvexPath, leave_one_out
from giantstep.simulation.network_features import NetworkFeatures
from giantstep.simulation.replicates import Replicate

# Mean squared errors that cross-validation finds; docs/cross-validation.md.
_ERRORS = "leave_one_out", "gcv", "k_fold"
_Errors = tuple[float, float, float]


def cross_validator(
    loss: str, features: Array, labels: Array, folds: int
) -> Callable[[float], _Errors]:
    """Return a function that cross-validates at a ridge, for the square loss without fitting again.

    The ridge is that of `|y - Phi a|^2 + ridge |a|^2`; zero is the ridgeless limit.

    Parameters
    ----------
    loss : str
    features : Array, shape (n, p)
    labels : Array, shape (n,)
    folds : int
        Of contiguous samples.

    Examples
    --------
    >>> features, labels = np.array([[1.0], [1.0], [2.0]]), np.array([1.0, 2.0, 2.0])
    >>> one, _, folds = cross_validator("square", features, labels, folds=3)(1.0)
    >>> round(one, 4), round(folds, 4)
    (0.4537, 0.4537)
    """
    if loss != SQUARE:
        return partial(_refit, lookup_loss(loss), features, labels, folds=folds)
    vectors, values, _ = svd(features, full_matrices=False, check_finite=False)
    kept = values > labels.size * np.finfo(float).eps * values[0]  # not those of rounding
    return partial(_validate, vectors[:, kept], values[kept] ** 2, labels, folds=folds)


def cross_validation_of_networks(
    several: Iterable[Replicate], grid: Grid, folds: int
) -> dict[str, Array]:
    """Cross-validate on the training sets on which `simulate` fits the same networks.

    Parameters
    ----------
    several : iterable of Replicate
    grid : Grid
    folds : int

    Returns
    -------
    dict of str to Array, shape (networks, trainings, alphas, ridges)
        `leave_one_out`, `gcv` (NaN for losses other than the square) and `k_fold`.
    """
    networks = np.array([_of_network(replicate, grid, folds) for replicate in several])
    return dict(zip(_ERRORS, np.moveaxis(networks, -1, 0), strict=True))


def _of_network(replicate: Replicate, grid: Grid, folds: int) -> list[Any]:
    """Cross-validate on each training set of one network, at each sample complexity and ridge."""
    sizes, features, found = replicate.sizes, NetworkFeatures(replicate, np.float64), []
    counts = [sizes.count(alpha) for alpha in grid.alpha]
    scaled = [ridge * replicate.layer.bias.size for ridge in grid.ridge]
    for training in range(sizes.trainings):
        values, labels = features.training_set(training, max(counts))
        parts = [cross_validator(grid.loss, values[:n], labels[:n], folds) for n in counts]
        found.append([[validate(ridge) for ridge in scaled] for validate in parts])
        replicate.report(1 / sizes.trainings)
    return found


def _refit(loss: Loss, features: Array, labels: Array, ridge: float, folds: int) -> _Errors:
    """Leave out one sample approximately, and folds by fitting again."""
    left_out, of_folds = leave_one_out(loss, features, labels, ridge), np.empty_like(labels)
    for part in np.array_split(np.arange(labels.size), folds):
        path = ConvexPath(loss)
        path.extend(np.delete(features, part, axis=0), np.delete(labels, part))
        of_folds[part] = features[part] @ path.fit(labels.size)((ridge,)).readouts[0]
    one, several = (float(np.mean((labels - x) ** 2)) for x in (left_out, of_folds))
    return one, np.nan, several


def _validate(vectors: Array, powers: Array, labels: Array, ridge: float, folds: int) -> _Errors:
    """Cross-validate by the hat matrix S: 1 - S = outside (1 - U U^T) + U diag(weight) U^T.

    U has the left singular vectors as columns, and powers are the squares of the singular values.
    While features can express any label, 1 - S vanishes with the ridge; residuals and diagonal are
    then both taken over the ridge.
    """
    outside = float(vectors.shape[0] > vectors.shape[1])
    weight = (ridge if outside else 1.0) / (powers + ridge)
    along = vectors.T @ labels
    residual = outside * (labels - vectors @ along) + vectors @ (weight * along)
    kept = outside * (1 - np.sum(vectors**2, axis=1)) + vectors**2 @ weight
    of_folds = []
    for part in np.array_split(np.arange(labels.size), folds):
        U = vectors[part]
        block = outside * (np.eye(part.size) - U @ U.T) + (U * weight) @ U.T
        of_folds.append(np.linalg.solve(block, residual[part]))
    return (
        float(np.mean((residual / kept) ** 2)),
        float(np.mean(residual**2) / np.mean(kept) ** 2),
        float(np.mean(np.concatenate(of_folds) ** 2)),
    )
