"""The protocol, run: actual networks of finite size, theory.md section 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng
from numpy.typing import NDArray

from giantstep.activations import Array, lookup
from giantstep.canonical import problem_seed
from giantstep.faults import COUNT, Fault, Interval, InvalidParametersError, interval_faults
from giantstep.gradient import batch_gradient, population_gradient
from giantstep.protocol import Grid, Problem, Protocol
from giantstep.ridge import RidgePath

# Rows of inputs held at once; bounds memory at O(p^2) plus this many rows.
BLOCK = 1024
DIMENSION = Interval(2, 1_000_000, whole=True)
# Neurons or samples: beyond, even one column of them is out of reach.
LARGEST = 100_000_000
# From here on random rows overlap little enough for the population gradient's series.
POPULATION_DIMENSION = 64

# What a random stream of a network replicate is for: part of its seed, so never renumber.
_WEIGHTS, _FIRST_BATCH, _TEST, _TRAINING = range(4)


@dataclass(frozen=True)
class Sizes:
    """How large the simulated networks are, and how many samples measure their test error.

    Attributes
    ----------
    dimension : int
        d; the width, the first batch and the training sets are its multiples beta, alpha0, alpha.
    trainings : int
        Training replicates: fresh training sets for each network.
    test_samples : int
        Fresh inputs, for each network, over which its test error is averaged.

    Raises
    ------
    InvalidParametersError
        With every value that is not a whole number of the allowed size.
    """

    dimension: int
    trainings: int = 1
    test_samples: int = 10_000

    def __post_init__(self) -> None:
        intervals = dict.fromkeys(vars(self), COUNT) | {"dimension": DIMENSION}
        faults = interval_faults(vars(self), intervals)
        if faults:
            raise InvalidParametersError(faults)

    def count(self, ratio: float) -> int:
        """Give the number of things that are `ratio` times the dimension, LARGEST + 1 at most."""
        return round(min(ratio * self.dimension, LARGEST + 1))


@dataclass(frozen=True)
class SimulatedErrors:
    """Errors of simulated networks, each of shape (networks, trainings, alphas, ridges)."""

    test_error: Array
    training_error: Array


def check_sizes(problem: Problem, grid: Grid, sizes: Sizes) -> None:
    """Refuse a dimension at which a width, a batch or a training set is empty, or out of reach.

    Raises
    ------
    InvalidParametersError
    """
    ratios = [("beta", problem.beta), *(("alpha", alpha) for alpha in grid.alpha)]
    if isinstance(problem, Protocol) and problem.alpha0 > 0 and np.isfinite(problem.alpha0):
        ratios.append(("alpha0", problem.alpha0))
    allowed = f"such that {{}} * dimension (here {sizes.dimension}) is from 1 to {LARGEST}"
    faults = [
        Fault(name, ratio, allowed.format(name))
        for name, ratio in ratios
        if not 1 <= sizes.count(ratio) <= LARGEST
    ]
    stepped = isinstance(problem, Protocol) and np.isinf(problem.alpha0)
    if stepped and sizes.dimension < POPULATION_DIMENSION:
        allowed = f"{POPULATION_DIMENSION} or more for the population gradient (alpha0 = inf)"
        faults.append(Fault("dimension", sizes.dimension, allowed))
    if faults:
        raise InvalidParametersError(faults)


def simulate(
    problem: Problem,
    grid: Grid,
    sizes: Sizes,
    networks: Iterable[int],
    root_seed: int,
    progress: Callable[[int], None] = lambda network: None,
) -> SimulatedErrors:
    """Simulate network replicates: initialise, step, fit the readout on fresh data, test.

    A replicate's numbers depend on the seed and its own index alone, whichever other replicates,
    sample complexities or ridges are asked for (up to rounding in sums, 1e-12).

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
        Called with each index when its replicate is done.

    Raises
    ------
    InvalidParametersError
        If the dimension is too small for the ratios, or there are no replicates.
    """
    check_sizes(problem, grid, sizes)
    seed, replicates = problem_seed(root_seed, problem), []
    for network in networks:
        with np.errstate(over="ignore", invalid="ignore"):  # told by first_layer, if it matters
            replicates.append(_simulate_network(problem, grid, sizes, network, seed))
        progress(network)
    if not replicates:
        raise InvalidParametersError([Fault("networks", 0, str(COUNT))])
    test, training = (np.stack(errors) for errors in zip(*replicates, strict=True))
    return SimulatedErrors(test, training)


def _stream(seed: SeedSequence, *path: int) -> Generator:
    """Give the generator of one purpose of one replicate."""
    return default_rng(SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *path)))


def _simulate_network(
    problem: Problem, grid: Grid, sizes: Sizes, network: int, seed: SeedSequence
) -> tuple[Array, Array]:
    """Give test and training errors of one network, shape (trainings, alphas, ridges)."""
    layer = first_layer(problem, sizes, network, seed)
    fits = []
    for training in range(sizes.trainings):
        rng = _stream(seed, network, _TRAINING, training)
        fits.append(_learning_curve(problem, grid, sizes, layer, rng))
    readouts = np.stack([readout for readout, _ in fits])
    training_error = np.stack([error for _, error in fits])
    rng = _stream(seed, network, _TEST)
    test_error = _test_errors(problem, sizes, layer, readouts, rng)
    return test_error, training_error


class FirstLayer(NamedTuple):
    """One network replicate's first layer after the step, and the target's direction.

    Attributes
    ----------
    weights : Array, shape (p, d)
    bias : Array, shape (p,)
    theta : Array, shape (d,)
    """

    weights: Array
    bias: Array
    theta: Array


def first_layer(problem: Problem, sizes: Sizes, network: int, seed: SeedSequence) -> FirstLayer:
    """Draw one network replicate's first layer, and take the step."""
    rng = _stream(seed, network, _WEIGHTS)
    theta, other = _sphere(rng, 2, sizes.dimension)
    weights = _sphere(rng, sizes.count(problem.beta), sizes.dimension)
    if isinstance(problem, Protocol):
        batch = _stream(seed, network, _FIRST_BATCH)
        gradient = _gradient(problem, sizes, weights, theta, batch)
        if gradient is not None:
            weights += problem.learning_rate * sizes.dimension / weights.shape[0] * gradient
        if not np.all(np.isfinite(weights)):
            allowed = "small enough that the weights stay finite"
            raise InvalidParametersError([Fault("learning_rate", problem.learning_rate, allowed)])
        return FirstLayer(weights, np.zeros(weights.shape[0]), theta)
    other -= (other @ theta) * theta
    rho = np.sqrt(1 - problem.alignment**2)
    spike = problem.alignment * theta + rho * other / np.linalg.norm(other)
    groups = problem.groups
    member = members(groups.pi, weights.shape[0])
    weights *= np.sqrt(groups.c)[member, None]
    weights += np.outer(groups.u[member], spike)
    return FirstLayer(weights, groups.b[member], theta)


def members(fractions: Array, neurons: int) -> NDArray[np.int64]:
    """Share neurons out among groups, each within one of its fraction; give each one's group."""
    ends = np.rint(np.cumsum(fractions) * neurons).astype(np.int64)
    return np.searchsorted(ends, np.arange(neurons), side="right")


def _sphere(rng: Generator, rows: int, dimension: int) -> Array:
    """Draw rows uniformly on the unit sphere."""
    normals = rng.standard_normal((rows, dimension))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return normals


def _gradient(
    problem: Protocol, sizes: Sizes, weights: Array, theta: Array, rng: Generator
) -> Array | None:
    """Give the (negative) gradient of the first step, or None where no step is taken."""
    activation, target = lookup(problem.activation), lookup(problem.target)
    letters, fractions = np.array(problem.readout).T
    omega = letters[members(fractions, weights.shape[0])]
    if problem.alpha0 == 0:
        return None
    if np.isinf(problem.alpha0):
        return population_gradient(weights, omega, activation, target, theta)
    batch = sizes.count(problem.alpha0)
    gradient = np.zeros_like(weights)
    for inputs, clean, noise in _samples(problem, theta, _cuts(batch), rng):
        gradient += batch_gradient(weights, omega, activation, inputs, clean + noise)
    return gradient / batch


def _cuts(*ends: int) -> list[int]:
    """Cut 0 ... max(ends) into blocks that end at each of `ends`; give the blocks' sizes."""
    edges = sorted({*ends, *range(0, max(ends), BLOCK)})
    return [stop - start for start, stop in zip([0, *edges], edges, strict=False) if stop > start]


def _samples(
    problem: Problem, theta: Array, blocks: list[int], rng: Generator
) -> Iterator[tuple[Array, Array, Array]]:
    """Draw inputs, clean labels and label noise in blocks; what is drawn does not depend on them.

    The noise has a stream of its own, so that cutting the rows elsewhere does not shift it.
    """
    target = lookup(problem.target)
    (noise_rng,) = rng.spawn(1)
    for size in blocks:
        inputs = rng.standard_normal((size, theta.size))
        noise = np.sqrt(problem.noise) * noise_rng.standard_normal(size)
        yield inputs, target.value(inputs @ theta), noise


def _features(problem: Problem, inputs: Array, layer: FirstLayer) -> Array:
    """Compute sigma(b + X W^T)/sqrt(p)."""
    features = lookup(problem.activation).value(inputs @ layer.weights.T + layer.bias)
    features /= np.sqrt(layer.bias.size)
    return features


def _learning_curve(
    problem: Problem, grid: Grid, sizes: Sizes, layer: FirstLayer, rng: Generator
) -> tuple[Array, Array]:
    """Fit the readout at every sample complexity on one growing training set.

    Returns
    -------
    readouts : Array, shape (alphas, ridges, p)
    training_errors : Array, shape (alphas, ridges)
    """
    counts = [sizes.count(alpha) for alpha in grid.alpha]
    path, fits, seen = RidgePath(layer.bias.size), {}, 0
    for inputs, clean, noise in _samples(problem, layer.theta, _cuts(*counts), rng):
        path.extend(_features(problem, inputs, layer), clean + noise)
        seen += clean.size
        if seen in counts:
            fits[seen] = path.readouts(grid.ridge)
    readouts, errors = zip(*(fits[count] for count in counts), strict=True)
    return np.stack(readouts), np.stack(errors)


def _test_errors(
    problem: Problem, sizes: Sizes, layer: FirstLayer, readouts: Array, rng: Generator
) -> Array:
    """Average (y - Phi a)^2 over fresh clean samples, for readouts of shape (..., p)."""
    flat = readouts.reshape(-1, layer.bias.size)
    squares = np.zeros(flat.shape[0])
    for inputs, clean, _ in _samples(problem, layer.theta, _cuts(sizes.test_samples), rng):
        error = _features(problem, inputs, layer) @ flat.T - clean[:, None]
        squares += np.einsum("ij,ij->j", error, error)
    return (squares / sizes.test_samples).reshape(readouts.shape[:-1])
