"""Network replicates of finite size: trained, fitted and measured; theory.md section 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.random import SeedSequence

from giantstep.arrays import Array, Reals
from giantstep.numerics.scalar_functions import BINARY, lookup
from giantstep.problems.grid import Grid
from giantstep.problems.losses import FLOW, Loss, is_square, lookup_loss
from giantstep.problems.problem import Problem
from giantstep.problems.seeds import problem_seed
from giantstep.problems.sizes import EXACT, Sizes, check_replicates, check_sizes
from giantstep.simulation.arithmetic import (
    FEWER_ROWS,
    ROWS,
    Precision,
    block_sizes,
    feature_power,
    fit_precision,
)
from giantstep.simulation.convex_readout import ConvexPath
from giantstep.simulation.first_layer import FirstLayer, first_layer
from giantstep.simulation.measurements import Tally, exact_test, measure_overlaps, tally
from giantstep.simulation.network_features import NetworkFeatures
from giantstep.simulation.ridge import Fit, RidgePath
from giantstep.simulation.samples import TEST, TRAINING
from giantstep.simulation.threads import Workers, workers

Progress = Callable[[float], None]
Report = Callable[[], None]
# Means over test inputs.
_TESTED = ("test_error", "classification_error", "test_loss", "learned_function")
# Neurons from whose weights the size of features is estimated.
_FEW = 64


@dataclass(frozen=True)
class Simulated:
    """Measurements of simulated networks, each of shape (networks, trainings, alphas, ridges, ...).

    Attributes
    ----------
    test_error, training_error : Array
        Mean squared errors: with respect to clean labels, and to the training set's labels.
    classification_error : Array
        Fraction of the test inputs where the output's sign differs from the clean label; NaN
        unless the target is a sign or a class, and for tests in closed form.
    training_loss, test_loss : Array
        Means of the loss, likewise; for the square loss, half of the errors.
    m, zeta, psi, q2 : Array, shape (..., G)
        Overlaps by groups of neurons (theory.md section 4); NaN where they refer to a spike and
        the network has none in common: after several steps from several readouts.
    q1 : Array, shape (..., G, G)
    learned_function : Array, shape (..., S)
        Mean output in thin slabs of theta.x around `measurements.SLABS`; NaN for an empty slab.
    """

    test_error: Array
    training_error: Array
    classification_error: Array
    training_loss: Array
    test_loss: Array
    m: Array
    zeta: Array
    psi: Array
    q1: Array
    q2: Array
    learned_function: Array


class _Replicate(NamedTuple):
    """A network replicate, with the seed of its streams and the threads that compute on it."""

    problem: Problem
    sizes: Sizes
    layer: FirstLayer
    seed: SeedSequence
    network: int
    pool: Workers


def simulate(
    problem: Problem,
    grid: Grid,
    sizes: Sizes,
    networks: Iterable[int],
    root_seed: int,
    progress: Progress = lambda fraction: None,
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
    check_sizes(problem, grid, sizes)
    indices = check_replicates(networks, root_seed)
    seed, measured = problem_seed(root_seed, problem), []
    with workers(threads) as pool:
        for done, network in enumerate(indices):
            with np.errstate(over="ignore", invalid="ignore"):  # first_layer reports an overflow
                layer = first_layer(problem, sizes, network, seed, pool)
            replicate = _Replicate(problem, sizes, layer, seed, network, pool)
            part = _part_of(progress, done / len(indices), 1 / len(indices))
            measured.append(_measure(replicate, grid, part))
    return Simulated(**{name: np.stack([one[name] for one in measured]) for name in measured[0]})


def _part_of(progress: Progress, start: float, fraction: float) -> Progress:
    """Report progress on a part of the work, which begins when `start` of it is done."""
    return lambda done: progress(start + fraction * done)


def _measure(replicate: _Replicate, grid: Grid, progress: Progress) -> dict[str, Array]:
    """Measure one network on the grid, in the precision that each ridge needs."""
    order: list[int] = []
    parts: list[dict[str, Array]] = []
    for precision, columns in _columns_by_precision(replicate, grid).items():
        ridges = tuple(grid.ridge[column] for column in columns)
        fraction = len(columns) / len(grid.ridge)
        part = _part_of(progress, len(order) / len(grid.ridge), fraction)
        parts.append(_measure_in(precision, replicate, replace(grid, ridge=ridges), part))
        order += columns
    return {
        name: np.concatenate([values[name] for values in parts], axis=2)[:, :, np.argsort(order)]
        for name in parts[0]
    }


def _columns_by_precision(replicate: _Replicate, grid: Grid) -> dict[Precision, list[int]]:
    """Sort the ridges, by their places in the grid, into those of each precision."""
    layer = replicate.layer
    some = slice(None, None, max(1, layer.bias.size // _FEW))
    norms = np.linalg.norm(layer.weights[some].astype(float), axis=1)
    power = feature_power(lookup(replicate.problem.activation), layer.bias[some], norms)
    columns: dict[Precision, list[int]] = {}
    for column, ridge in enumerate(grid.ridge):
        columns.setdefault(fit_precision(ridge, power), []).append(column)
    return columns


def _measure_in(
    precision: Precision, replicate: _Replicate, grid: Grid, progress: Progress
) -> dict[str, Array]:
    """Fit and test in one precision; return arrays of shape (trainings, alphas, ridges, ...)."""
    problem, sizes = replicate.problem, replicate.sizes
    features = NetworkFeatures(problem, replicate.layer, precision)
    counts = [sizes.count(alpha) for alpha in grid.alpha]
    exact = sizes.test_samples == EXACT
    tests = [] if exact else block_sizes(int(sizes.test_samples), FEWER_ROWS)
    blocks = sizes.trainings * len(block_sizes(max(counts), ROWS)) + len(tests)
    done = 0

    def report() -> None:
        nonlocal done
        done += 1
        progress(done / blocks)

    fit = _fit_readouts(replicate, features, counts, grid, report)
    flat = fit.readouts.reshape(-1, fit.readouts.shape[-1])
    tested: tuple[Array, ...]
    if exact:
        error, learned = exact_test(problem, replicate.layer, flat)
        tested = error, np.full_like(error, np.nan), error / 2, learned
    else:
        tested = _test_on_samples(replicate, features, tests, flat, lookup_loss(grid.loss), report)
    shape, overlaps = fit.readouts.shape[:-1], measure_overlaps(replicate.layer, fit.readouts)
    return {
        "training_error": fit.errors,
        "training_loss": fit.losses,
        **{k: x.reshape(*shape, *x.shape[1:]) for k, x in zip(_TESTED, tested, strict=True)},
        **{name: getattr(overlaps, name) for name in ("m", "zeta", "psi", "q1", "q2")},
    }


def _fit_readouts(
    replicate: _Replicate, features: NetworkFeatures, counts: list[int], grid: Grid, report: Report
) -> Fit:
    """Fit readouts, over sqrt(p), at every sample size, on growing training sets.

    Returns
    -------
    Fit
        Readouts of shape (trainings, alphas, ridges, p), the others (trainings, alphas, ridges).
    """
    layer, pool = replicate.layer, replicate.pool
    scaled = tuple(ridge * layer.bias.size for ridge in grid.ridge)
    blocks = range(len(block_sizes(max(counts), ROWS)))

    def block(place: tuple[int, int]) -> tuple[Reals, Array]:
        # Always a whole block, even if only its first rows are used: so rounding is the same.
        samples, values = features.draw(replicate.seed, ROWS, replicate.network, TRAINING, *place)
        return values, samples.clean + samples.noise

    places = list(product(range(replicate.sizes.trainings), blocks))
    pending: list[dict[int, Future[Fit]]] = []
    path: RidgePath | ConvexPath
    for (_, index), drawn in zip(places, pool.map_ahead(block, places), strict=True):
        if index == 0:
            path = (
                RidgePath(layer.membership, stopped=grid.loss == FLOW)
                if is_square(grid.loss)
                else ConvexPath(lookup_loss(grid.loss))
            )
            pending.append({})
        path.extend(*drawn)
        del drawn
        for count in sorted({n for n in counts if index * ROWS < n <= (index + 1) * ROWS}):
            pending[-1][count] = pool.compute_later(partial(path.fit(count), scaled))
        report()
    fits = [[of_count[count].result() for count in counts] for of_count in pending]
    return Fit(*(np.stack([[fit[part] for fit in row] for row in fits]) for part in range(3)))


def _test_on_samples(
    replicate: _Replicate,
    features: NetworkFeatures,
    sizes: list[int],
    readouts: Array,
    loss: Loss,
    report: Report,
) -> tuple[Array, ...]:
    """Average over blocks of fresh clean samples what `_TESTED` names, of R readouts.

    Returns
    -------
    tuple of Array
        Of shape (R,); in slabs of inputs (R, S).
    """

    def block(item: tuple[int, int]) -> Tally:
        index, rows = item
        samples, values = features.draw(replicate.seed, rows, replicate.network, TEST, index)
        return tally(values, readouts, samples.along, samples.clean, loss)

    tallies: Iterator[Tally] = replicate.pool.map_ahead(block, enumerate(sizes))
    total = next(tallies)
    report()
    for further in tallies:
        total = total.plus(further)
        report()
    count, wrong = sum(sizes), np.full(len(readouts), np.nan)
    if replicate.problem.target in BINARY:
        wrong = total.wrong / count
    with np.errstate(invalid="ignore"):  # empty slabs
        learned = total.outputs / total.inside
    return total.squares / count, wrong, total.losses / count, learned
