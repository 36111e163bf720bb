"""The protocol, run: actual networks of finite size, theory.md section 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence
from scipy.special import ndtri

from giantstep.arrays import Array, Reals
from giantstep.numerics.scalar_functions import SIGN, lookup
from giantstep.problems.canonical import problem_seed
from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE, Loss, lookup_loss
from giantstep.problems.problem import Problem
from giantstep.problems.sizes import EXACT, SEED, Sizes, check_sizes
from giantstep.simulation.convex_readout import ConvexPath
from giantstep.simulation.first_layer import FirstLayer, first_layer
from giantstep.simulation.measurements import Tally, exact_test, measure_overlaps, tally
from giantstep.simulation.network_features import NetworkFeatures
from giantstep.simulation.ridge import Fit, ReadoutPath, RidgePath
from giantstep.simulation.samples import FEWER_ROWS, ROWS, TEST, TRAINING, block_sizes
from giantstep.simulation.threads import Workers, workers
from giantstep.validation import COUNT, Fault, InvalidParametersError, interval_faults

# Below this share of the features' mean square a ridge is fitted in double precision throughout:
# single precision then moves the test error by less than 1e-3 of its standard error
# (benchmarks/simulation.py, tests/test_montecarlo.py).
SINGLE_FROM = 0.01
# Above this one single precision would overflow.
LARGEST_SINGLE = 1e20
# A few values that stand for N(0, 1), to judge the features' size by.
_QUANTILES = ndtri((np.arange(32) + 0.5) / 32)

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Simulated:
    """What was measured of simulated networks; each of shape (networks, trainings, alphas, ridges).

    Attributes
    ----------
    test_error, training_error : Array
        Mean squared errors: of clean labels, and of the training set's own.
    classification_error : Array
        Share of the test inputs given the other sign than the clean label; NaN unless the target
        is a sign, and where the test is in closed form.
    training_loss, test_loss : Array
        Means of the loss, likewise; for the square loss halves of the errors.
    m, zeta, psi, q2 : Array, shape (..., G)
        Overlaps, by groups of neurons (theory.md section 4); NaN where they need a spike and
        several steps were taken.
    q1 : Array, shape (..., G, G)
    learned_function : Array, shape (..., S)
        Mean output in thin slabs of theta.x around `measure.SLABS`; NaN where a slab is empty.
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


class _Run(NamedTuple):
    """One network replicate: what is asked, and what it draws on."""

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
    progress: Progress = lambda share: None,
    threads: int = 1,
) -> Simulated:
    """Simulate network replicates: initialise, step, fit the readout on fresh data, test.

    A replicate's numbers depend on the seed and its own index alone: not, by a bit, on the number
    of threads, nor on which other replicates, sample complexities or ridges are asked for.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    grid : Grid
        One training set serves all its sample complexities, one factorisation each.
    sizes : Sizes
    networks : iterable of int
        Indices of the network replicates to run.
    root_seed : int
        With the problem's parameters, the root of its random streams.
    progress : callable
        Called, now and then, with the share of the work that is done.
    threads : int
        How many compute at once; memory grows with them by some blocks and some p^2.

    Raises
    ------
    InvalidParametersError
        If the dimension is too small for the ratios, or there are no replicates, or a negative
        index or seed, or the loss does not suit the labels or cannot be minimised at a ridge.
    """
    check_sizes(problem, grid, sizes)
    indices = list(networks)
    faults = [] if indices else [Fault("networks", 0, str(COUNT))]
    faults += [Fault("networks", index, str(SEED)) for index in indices if index not in SEED]
    faults += interval_faults({"root_seed": root_seed}, {"root_seed": SEED})
    if faults:
        raise InvalidParametersError(faults)
    seed, replicates = problem_seed(root_seed, problem), []
    with workers(threads) as pool:
        for done, network in enumerate(indices):
            with np.errstate(over="ignore", invalid="ignore"):  # told by first_layer, if it matters
                layer = first_layer(problem, sizes, network, seed, pool)
            run = _Run(problem, sizes, layer, seed, network, pool)
            part = _part(progress, done / len(indices), 1 / len(indices))
            replicates.append(_measured(run, grid, part))
    names = [field.name for field in fields(Simulated)]
    return Simulated(**{name: np.stack([one[name] for one in replicates]) for name in names})


def _measured(run: _Run, grid: Grid, progress: Progress) -> dict[str, Array]:
    """Measure one network, on the grid, in the precision that each ridge needs."""
    order: list[int] = []
    passes: list[dict[str, Array]] = []
    for precision, columns in _precisions(run, grid).items():
        ridges = tuple(grid.ridge[column] for column in columns)
        share = len(columns) / len(grid.ridge)
        part = _part(progress, len(order) / len(grid.ridge), share)
        passes.append(_pass(run, replace(grid, ridge=ridges), precision, part))
        order += columns
    return {
        name: np.concatenate([values[name] for values in passes], axis=2)[:, :, np.argsort(order)]
        for name in passes[0]
    }


def _part(progress: Progress, start: float, share: float) -> Progress:
    """Report on a part of the work."""
    return lambda done: progress(start + share * done)


def _precisions(run: _Run, grid: Grid) -> dict[type[np.floating[Any]], list[int]]:
    """Sort the ridges, by their places in the grid, into those of either precision."""
    few = slice(None, None, max(1, run.layer.bias.size // 64))
    norms = np.linalg.norm(run.layer.weights[few].astype(float), axis=1)
    inputs = run.layer.bias[few, None] + norms[:, None] * _QUANTILES
    power = float(np.mean(lookup(run.problem.activation).value(inputs) ** 2))
    found: dict[type[np.floating[Any]], list[int]] = {}
    for column, ridge in enumerate(grid.ridge):
        single = SINGLE_FROM * power <= ridge <= LARGEST_SINGLE * power
        precision = np.float32 if single else np.float64
        found.setdefault(precision, []).append(column)
    return found


def _pass(
    run: _Run,
    grid: Grid,
    precision: type[np.floating[Any]],
    progress: Progress,
) -> dict[str, Array]:
    """Fit and test in one precision; arrays of shape (trainings, alphas, ridges, ...)."""
    features = NetworkFeatures(run.problem, run.layer, precision)
    counts = [run.sizes.count(alpha) for alpha in grid.alpha]
    steps = run.sizes.trainings * len(block_sizes(max(counts), ROWS))
    samples = run.sizes.test_samples
    tests = [] if samples == EXACT else block_sizes(samples, FEWER_ROWS)
    done = 0

    def report() -> None:
        nonlocal done
        done += 1
        progress(done / (steps + len(tests)))

    readouts, training_error, training_loss = _fits(run, features, counts, grid, report)
    flat = readouts.reshape(-1, readouts.shape[-1])
    if samples == EXACT:
        error, learned = exact_test(run.problem, run.layer, flat)
        tested = _Tested(error, np.full_like(error, np.nan), error / 2, learned)
    else:
        tested = _tested(run, features, tests, flat, lookup_loss(grid.loss), report)
    shape, overlaps = readouts.shape[:-1], measure_overlaps(run.layer, readouts)
    return {
        "training_error": training_error,
        "training_loss": training_loss,
        **{name: x.reshape(*shape, *x.shape[1:]) for name, x in tested._asdict().items()},
        **{name: getattr(overlaps, name) for name in ("m", "zeta", "psi", "q1", "q2")},
    }


def _fits(
    run: _Run,
    features: NetworkFeatures,
    counts: list[int],
    grid: Grid,
    report: Callable[[], None],
) -> Fit:
    """Fit readouts, over sqrt(p), at every sample size, on growing training sets.

    Returns
    -------
    Fit
        Readouts of shape (trainings, alphas, ridges, p), the others (trainings, alphas, ridges).
    """
    scaled = tuple(ridge * run.layer.bias.size for ridge in grid.ridge)
    blocks = range(len(block_sizes(max(counts), ROWS)))

    def block(place: tuple[int, int]) -> tuple[Reals, Array]:
        # Whole, even where only its first rows are needed: so its bits are always the same.
        samples, values = features.draw(run.seed, ROWS, run.network, TRAINING, *place)
        return values, samples.clean + samples.noise

    places = [(training, index) for training in range(run.sizes.trainings) for index in blocks]
    found: list[dict[int, Future[Fit]]] = []
    path: ReadoutPath
    for (_, index), given in zip(places, run.pool.ahead(block, places), strict=True):
        if index == 0:
            path = _path(run.layer, grid.loss)
            found.append({})
        path.extend(*given)
        del given
        for count in sorted({n for n in counts if index * ROWS < n <= (index + 1) * ROWS}):
            fit = path.fit(count)
            found[-1][count] = run.pool.later(partial(fit, scaled))
        report()
    fits = [[of_count[count].result() for count in counts] for of_count in found]
    return Fit(*(np.stack([[fit[part] for fit in row] for row in fits]) for part in range(3)))


def _path(layer: FirstLayer, loss: str) -> ReadoutPath:
    """Give what fits readouts of a loss."""
    return RidgePath(layer.shares) if loss == SQUARE else ConvexPath(lookup_loss(loss))


class _Tested(NamedTuple):
    """Means over test inputs, shape (R,), and in slabs of them, shape (R, S)."""

    test_error: Array
    classification_error: Array
    test_loss: Array
    learned_function: Array


def _tested(
    run: _Run,
    features: NetworkFeatures,
    sizes: list[int],
    readouts: Array,
    loss: Loss,
    report: Callable[[], None],
) -> _Tested:
    """Average errors and losses, and outputs in slabs, over fresh clean samples."""

    def block(item: tuple[int, int]) -> Tally:
        index, rows = item
        samples, values = features.draw(run.seed, rows, run.network, TEST, index)
        return tally(values, readouts, samples.along, samples.clean, loss)

    tallies: Iterator[Tally] = run.pool.ahead(block, enumerate(sizes))
    total = next(tallies)
    report()
    for further in tallies:
        total = total.plus(further)
        report()
    count = sum(sizes)
    wrong = total.wrong / count if run.problem.target == SIGN else np.full(len(readouts), np.nan)
    with np.errstate(invalid="ignore"):
        learned = total.outputs / total.inside
    return _Tested(total.squares / count, wrong, total.losses / count, learned)
