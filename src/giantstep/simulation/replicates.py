"""Network replicates: their first layers, one after the other, with what computes on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import SeedSequence

from giantstep.problems.grid import Grid
from giantstep.problems.problem import Problem
from giantstep.problems.seeds import problem_seed
from giantstep.problems.sizes import Sizes, check_sizes
from giantstep.simulation.first_layer import FirstLayer, first_layer
from giantstep.simulation.threads import Workers, workers

Progress = Callable[[float], None]


def no_progress(done: float) -> None:
    """Report no progress."""


@dataclass(frozen=True)
class Replicate:
    """A network replicate, with the seed of its streams and the threads that compute on it.

    Attributes
    ----------
    report : callable
        Takes the share of the work on this network that has been done since it was last called.
    """

    problem: Problem
    sizes: Sizes
    layer: FirstLayer
    seed: SeedSequence
    network: int
    pool: Workers
    report: Progress


def network_replicates(
    problem: Problem,
    grid: Grid,
    sizes: Sizes,
    networks: Iterable[int],
    root_seed: int,
    progress: Progress = no_progress,
    threads: int = 1,
) -> Iterator[Replicate]:
    """Make network replicates; the parameters are those of `simulate.simulate`.

    Raises
    ------
    InvalidParametersError
    """
    check_sizes(problem, grid, sizes)
    indices, seed = list(networks), problem_seed(root_seed, problem)
    done = 0.0

    def report(share: float) -> None:
        nonlocal done
        done += share / len(indices)
        progress(min(done, 1.0))

    with workers(threads) as pool:
        for network in indices:
            with np.errstate(over="ignore", invalid="ignore"):  # first_layer reports an overflow
                layer = first_layer(problem, sizes, network, seed, pool)
            yield Replicate(problem, sizes, layer, seed, network, pool, report)
