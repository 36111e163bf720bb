"""What cross-validation finds on the training sets of simulated networks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import svd

from giantstep.arrays import Array
from giantstep.problems.convex_losses import Loss
from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE, lookup_loss
from giantstep.problems.problem import Problem
from giantstep.problems.sizes import Sizes
from giantstep.simulation.arithmetic import ROWS, block_sizes
from giantstep.simulation.convex_readout import ConvexPath, leave_one_out
from giantstep.simulation.network_features import NetworkFeatures
from giantstep.simulation.replicates import Progress, network_replicates, no_progress
from giantstep.simulation.samples import TRAINING


class CrossValidation(NamedTuple):
    """Mean squared errors that cross-validation finds; docs/cross-validation.md.

    `gcv` is NaN for losses other than the square.
    """

    leave_one_out: float
    gcv: float
    k_fold: float


def cross_validator(
    loss: str, features: Array, labels: Array, folds: int
) -> Callable[[float], CrossValidation]:
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
    >>> found = cross_validator("square", features, labels, folds=3)(1.0)
    >>> round(found.leave_one_out, 4), round(found.k_fold, 4)
    (0.4537, 0.4537)
    """
    if loss != SQUARE:
        return partial(_refit, lookup_loss(loss), features, labels, folds=folds)
    vectors, values, _ = svd(features, full_matrices=False, check_finite=False)
    return partial(_validate, vectors, values**2, labels, folds=folds)


def cross_validation_of_networks(
    problem: Problem,
    grid: Grid,
    sizes: Sizes,
    networks: Iterable[int],
    root_seed: int,
    folds: int,
    progress: Progress = no_progress,
    threads: int = 1,
) -> dict[str, Array]:
    """Cross-validate on the training sets on which `simulate` fits the same networks.

    Parameters
    ----------
    problem, grid, sizes, networks, root_seed, progress, threads
        As in `simulate.simulate`.
    folds : int

    Returns
    -------
    dict of str to Array, shape (networks, trainings, alphas, ridges)
        By the names of `CrossValidation`.
    """
    counts, measured = [sizes.count(alpha) for alpha in grid.alpha], []
    blocks = range(len(block_sizes(max(counts), ROWS)))
    several = network_replicates(problem, grid, sizes, networks, root_seed, progress, threads)
    for replicate in several:
        features = NetworkFeatures(replicate, np.float64)
        scaled = [ridge * replicate.layer.bias.size for ridge in grid.ridge]
        for training in range(sizes.trainings):
            drawn = [features.draw(ROWS, TRAINING, training, block) for block in blocks]
            values = np.concatenate([of_block for _, of_block in drawn], dtype=float)
            labels = np.concatenate([samples.labels for samples, _ in drawn])
            parts = [cross_validator(grid.loss, values[:n], labels[:n], folds) for n in counts]
            measured.append([[validate(ridge) for ridge in scaled] for validate in parts])
            replicate.report(1 / sizes.trainings)
    shape = -1, sizes.trainings, len(grid.alpha), len(grid.ridge), len(CrossValidation._fields)
    stacked = np.moveaxis(np.array(measured).reshape(shape), -1, 0)
    return dict(zip(CrossValidation._fields, stacked, strict=True))


def _refit(loss: Loss, features: Array, labels: Array, ridge: float, folds: int) -> CrossValidation:
    """Leave out one sample approximately, and folds by fitting again."""
    left_out, of_folds = leave_one_out(loss, features, labels, ridge), np.empty_like(labels)
    for part in np.array_split(np.arange(labels.size), folds):
        path = ConvexPath(loss)
        path.extend(np.delete(features, part, axis=0), np.delete(labels, part))
        of_folds[part] = features[part] @ path.fit(labels.size)((ridge,)).readouts[0]
    one, several = (float(np.mean((labels - x) ** 2)) for x in (left_out, of_folds))
    return CrossValidation(one, np.nan, several)


def _validate(
    vectors: Array, powers: Array, labels: Array, ridge: float, folds: int
) -> CrossValidation:
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
    return CrossValidation(
        float(np.mean((residual / kept) ** 2)),
        float(np.mean(residual**2) / np.mean(kept) ** 2),
        float(np.mean(np.concatenate(of_folds) ** 2)),
    )
