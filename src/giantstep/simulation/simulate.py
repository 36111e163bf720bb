"""Network replicates of finite size: trained, fitted and measured; theory.md section 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from types import SimpleNamespace

import numpy as np

from giantstep.arrays import Array, Reals
from giantstep.numerics.scalar_functions import BINARY, lookup
from giantstep.problems.grid import Grid
from giantstep.problems.losses import FLOW, is_square, lookup_loss
from giantstep.problems.problem import Problem
from giantstep.problems.sizes import Sizes
from giantstep.simulation.arithmetic import (
    FEWER_ROWS,
    ROWS,
    Precision,
    block_sizes,
    feature_power,
    fit_precision,
)
from giantstep.simulation.convex_readout import ConvexPath
from giantstep.simulation.exact_test import exact_test, has_series
from giantstep.simulation.measurements import SLABS, measure_overlaps, tally
from giantstep.simulation.network_features import NetworkFeatures
from giantstep.simulation.replicates import Progress, Replicate, network_replicates, no_progress
from giantstep.simulation.ridge import Fit, RidgePath
from giantstep.simulation.samples import TEST, TRAINING

Report = Callable[[], None]
# What tests return.
_TESTED = "test_error", "classification_error", "test_loss", "learned_function"
# Neurons from whose weights the size of features is estimated.
_FEW = 64


class Simulated(SimpleNamespace):
    """Measurements of simulated networks, each of shape (networks, trainings, alphas, ridges, ...).

    Attributes
    ----------
    test_error, training_error : Array
        Mean squared errors: with respect to clean labels, and to the training set's labels.
    classification_error : Array
        Fraction of the test inputs where the output's sign differs from the clean label; NaN
        unless the target is a sign or a class.
    training_loss, test_loss : Array
        Means of the loss, likewise; for the square loss, half of the errors.
    m, zeta, psi, q2 : Array, shape (..., G)
        Overlaps by groups of neurons (theory.md section 4); NaN where they refer to a spike and
        the network has none in common: after several steps from several readouts.
    q1 : Array, shape (..., G, G)
    learned_function : Array, shape (..., S)
        Mean output at the values `measurements.SLABS` of theta.x; on samples, in thin slabs around
        them, and NaN for an empty slab.
    """


def simulate(
    problem: Problem,
    grid: Grid,
    sizes: Sizes,
    networks: Iterable[int],
    root_seed: int,
    progress: Progress = no_progress,
    threads: int = 1,
) -> Simulated:
    """Simulate network replicates: initialise, take steps, fit the readout on fresh data, test.

    A replicate's numbers depend only on the seed and its own index. The number of threads and the
    other replicates, sample complexities and ridges do not change them, to the last bit.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    grid : Grid
        One training set serves all its sample complexities, with one factorisation for each.
    sizes : Sizes
    networks : iterable of int
        Indices of the network replicates to simulate.
    root_seed : int
        Determines all random streams, together with the problem's parameters.
    progress : callable
        Called from time to time with the fraction of the work that is done.
    threads : int
        How many compute at once; each needs memory for some blocks and some p x p matrices.

    Raises
    ------
    InvalidParametersError
        If the dimension is too small for the ratios, an index or the seed is negative, there are
        no replicates, the loss does not suit the labels, the weights overflow, or the loss cannot
        be minimised at a ridge.

    Examples
    --------
    >>> from giantstep import Protocol
    >>> from giantstep.problems.grid import Grid
    >>> from giantstep.problems.sizes import Sizes
    >>> problem = Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1)
    >>> grid, sizes = Grid(alpha=(0.5, 2), ridge=(0.1,)), Sizes(dimension=100, trainings=2)
    >>> measurements = simulate(problem, grid, sizes, networks=range(3), root_seed=0)
    >>> measurements.test_error.shape  # networks, trainings, alphas, ridges
    (3, 2, 2, 1)
    """
    several = network_replicates(problem, grid, sizes, networks, root_seed, progress, threads)
    measured = [_measure(replicate, grid) for replicate in several]
    return Simulated(**{name: np.stack([one[name] for one in measured]) for name in measured[0]})


def _measure(replicate: Replicate, grid: Grid) -> dict[str, Array]:
    """Measure one network on the grid, in the precision that each ridge needs."""
    layer = replicate.layer
    some = slice(None, None, max(1, layer.bias.size // _FEW))
    norms = np.linalg.norm(layer.weights[some].astype(float), axis=1)
    power = feature_power(lookup(replicate.problem.activation), layer.bias[some], norms)
    needed = [fit_precision(ridge, power) for ridge in grid.ridge]
    parts, order = [], list[int]()
    for precision in dict.fromkeys(needed):
        columns = [column for column, one in enumerate(needed) if one is precision]
        of_columns = replace(grid, ridge=tuple(grid.ridge[column] for column in columns))
        parts.append(_measure_in(precision, replicate, of_columns, len(columns) / len(needed)))
        order += columns
    joined = {name: np.concatenate([part[name] for part in parts], axis=2) for name in parts[0]}
    return {name: values[:, :, np.argsort(order)] for name, values in joined.items()}


def _measure_in(
    precision: Precision, replicate: Replicate, grid: Grid, share: float
) -> dict[str, Array]:
    """Fit and test in one precision; return arrays of shape (trainings, alphas, ridges, ...).

    It is a share of the work on the network.
    """
    sizes, features = replicate.sizes, NetworkFeatures(replicate, precision)
    tests = block_sizes(sizes.test_samples, FEWER_ROWS)
    training = range(len(block_sizes(max(map(sizes.count, grid.alpha)), ROWS)))
    places = list(product(range(sizes.trainings), training))
    report = partial(replicate.report, share / (len(places) + len(tests)))
    fit = fit_readouts(features, places, grid, report)
    flat = fit.readouts.reshape(-1, fit.readouts.shape[-1])
    tested = _test(features, tests, flat, grid.loss, report)
    shape, overlaps = fit.readouts.shape[:-1], measure_overlaps(replicate.layer, fit.readouts)
    found = {name: x.reshape(*shape, *x.shape[1:]) for name, x in zip(_TESTED, tested, strict=True)}
    found |= {"training_error": fit.errors, "training_loss": fit.losses}
    return found | {name: getattr(overlaps, name) for name in ("m", "zeta", "psi", "q1", "q2")}


def fit_readouts(
    features: NetworkFeatures, places: list[tuple[int, int]], grid: Grid, report: Report
) -> Fit:
    """Fit readouts, over sqrt(p), at every sample size, on growing training sets.

    Parameters
    ----------
    features : NetworkFeatures
    places : list of (int, int)
        Training sets, with the blocks of each.
    grid : Grid
    report : callable

    Returns
    -------
    Fit
        Readouts of shape (trainings, alphas, ridges, p), the others (trainings, alphas, ridges).
    """
    layer, pool = features.layer, features.replicate.pool
    counts = [features.replicate.sizes.count(alpha) for alpha in grid.alpha]
    different, column = np.unique(counts, return_inverse=True)
    scaled = tuple(ridge * layer.bias.size for ridge in grid.ridge)

    def block(place: tuple[int, int]) -> tuple[Reals, Array]:
        # Always a whole block, even if only its first rows are used: so rounding is the same.
        samples, values = features.draw(ROWS, TRAINING, *place)
        return values, samples.labels

    def fits() -> Iterator[Callable[[tuple[float, ...]], Fit]]:
        path: RidgePath | ConvexPath
        for (_, index), drawn in zip(places, pool.map_ahead(block, places), strict=True):
            if index == 0:
                path = ConvexPath(lookup_loss(grid.loss))
                if is_square(grid.loss):
                    path = RidgePath(layer.membership, stopped=grid.loss == FLOW)
            path.extend(*drawn)
            del drawn
            inside = (index * ROWS < different) & (different <= (index + 1) * ROWS)
            yield from map(path.fit, different[inside].tolist())
            report()

    fitted = list(pool.map_ahead(lambda fit: fit(scaled), fits()))
    parts = (np.stack(part) for part in zip(*fitted, strict=True))
    return Fit(*(x.reshape(-1, different.size, *x.shape[1:])[:, column] for x in parts))


def _test(
    features: NetworkFeatures, sizes: list[int], readouts: Array, loss: str, report: Report
) -> tuple[Array, ...]:
    """Compute test errors, 0-1 errors, losses (R,) and learned functions (R, S) of R readouts.

    Samples serve for losses, 0-1 errors, and where series do not converge or are not known.
    """
    of = features.replicate
    if not (is_square(loss) and has_series(of.problem, of.layer)):
        return _test_on_samples(features, sizes, readouts, loss, report)
    error, learned, resolved = exact_test(of.problem, of.layer, readouts, SLABS, of.pool)
    if resolved.all() and of.problem.target not in BINARY:
        return error, np.full_like(error, np.nan), error / 2, learned
    squares, wrong, losses, slabs = _test_on_samples(features, sizes, readouts, loss, report)
    for sampled, exact in ((squares, error), (losses, error / 2), (slabs, learned)):
        sampled[resolved] = exact[resolved]
    return squares, wrong, losses, slabs


def _test_on_samples(
    features: NetworkFeatures, sizes: list[int], readouts: Array, loss: str, report: Report
) -> tuple[Array, ...]:
    """Average errors, losses and outputs over blocks of fresh clean samples."""

    def block(item: tuple[int, int]) -> tuple[Array, ...]:
        index, rows = item
        samples, values = features.draw(rows, TEST, index)
        return tally(values, readouts, samples.along, samples.clean, lookup_loss(loss))

    total: tuple[Array, ...] = ()
    for sums in features.replicate.pool.map_ahead(block, enumerate(sizes)):
        total = tuple(map(np.add, total, sums)) if total else sums
        report()
    squares, wrong, losses, outputs, inside = total
    if features.replicate.problem.target not in BINARY:
        wrong = np.full(len(readouts), np.nan)
    with np.errstate(invalid="ignore"):  # empty slabs
        return *(x / sum(sizes) for x in (squares, wrong, losses)), outputs / inside
