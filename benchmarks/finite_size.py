"""Theories at d -> infinity and at finite d, beside networks of d = 100 to 1000 drawn at random.

Protocols and spiked features are drawn from a seed, simulated, and compared with each theory. The
table gives the mean of |z|, beside what it would be by chance, and the median and largest gaps.

    nice python benchmarks/finite_size.py [--seed 1] [--problems 64] [--budget 1] [--each]
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from giantstep import Protocol, SpikedFeatures
from giantstep.problems.grid import Grid
from giantstep.problems.problem import Problem
from giantstep.problems.readout import Vocabulary
from giantstep.problems.sizes import Sizes
from giantstep.problems.spiked_features import one_spike
from giantstep.simulation.simulate import simulate
from giantstep.theory.first_layer.equivalent_features import equivalent_features
from giantstep.theory.readout.solve import solve

ACTIVATIONS = ("tanh", "erf", "sin", "hardtanh", "softsign")
TARGETS = ("tanh", "sin", "sign", "relu", "polynomial:0,1,0,0.2")
DIMENSIONS = (100, 150, 220, 330, 500, 700, 1000)
# Networks at d = 100, and the fewest at large d.
NETWORKS, FEWEST = 96, 6
# Bulk, and whether the dimension is finite, in the order of the columns.
THEORIES = (("isotropic", False), ("trained", False), ("isotropic", True),
            ("trained", True))  # fmt: skip
NAMES = ("isotropic", "trained", "isotropic, finite d", "trained, finite d")
TEST_SAMPLES = 4000
CORES = len(os.sched_getaffinity(0))


class Case(NamedTuple):
    """A problem at one sample complexity, ridge and dimension."""

    problem: Problem
    grid: Grid
    dimension: int


class Compared(NamedTuple):
    """Simulations of a case beside the theories: z-scores, and gaps in per cent.

    A gap is the theory's test error over the simulated one, minus one.

    Attributes
    ----------
    chance : float
        The mean of |z| for a theory that is exact.
    error : float
        Standard error of the mean over networks, in per cent.
    """

    case: Case
    z: tuple[float, ...]
    gap: tuple[float, ...]
    chance: float
    error: float


def _log_uniform(rng: Generator, low: float, high: float) -> float:
    """Draw a number whose logarithm is uniform, rounded to three digits."""
    return float(f"{math.exp(rng.uniform(math.log(low), math.log(high))):.3g}")


def _vocabulary(rng: Generator, values: Sequence[float], size: int) -> Vocabulary:
    """Draw some of the values, with fractions that are multiples of a quarter."""
    fractions = {1: (1.0,), 2: (0.5, 0.5), 3: (0.5, 0.25, 0.25)}[size]
    drawn = rng.choice(values, size, replace=False)
    return tuple((float(value), share) for value, share in zip(drawn, fractions, strict=True))


def _letters(rng: Generator) -> Vocabulary:
    """Draw one to three letters: one in half of the cases."""
    size = int(rng.choice((1, 1, 2, 3)))
    return _vocabulary(rng, (-1.5, -1, -0.5, 0.5, 1, 2), size) if size > 1 else ((1.0, 1.0),)


def draw_features(rng: Generator) -> SpikedFeatures:
    """Draw spiked features: letters or biases, one to three of them."""
    letters, bias = _letters(rng), ((0.0, 1.0),)
    if len(letters) == 1:
        bias = _vocabulary(rng, (-1, -0.3, 0, 0.5, 1.5), int(rng.integers(1, 4)))
    return one_spike(
        str(rng.choice(ACTIVATIONS)),
        str(rng.choice(TARGETS)),
        bulk_variance=_log_uniform(rng, 1, 3),
        spike_strength=_log_uniform(rng, 0.05, 5),
        alignment=float(rng.choice((1.0, round(rng.uniform(0.3, 1), 2)))),
        beta=_log_uniform(rng, 0.3, 2),
        noise=float(rng.choice((0, 0, 0.1, 0.5))),
        readout=letters,
        bias=bias,
    )


def draw_protocol(rng: Generator) -> Protocol:
    """Draw a protocol whose spike, for a letter of one, has a strength from 0.05 to 5."""
    protocol = Protocol(
        str(rng.choice(ACTIVATIONS)),
        str(rng.choice(TARGETS)),
        learning_rate=1.0,
        alpha0=float(rng.choice((math.inf, _log_uniform(rng, 0.3, 30)), p=(0.25, 0.75))),
        beta=_log_uniform(rng, 0.3, 2),
        noise=float(rng.choice((0, 0, 0.1, 0.5))),
        readout=_letters(rng),
    )
    first = protocol.readout[0][0]
    at_one = abs(equivalent_features(protocol).groups.u[0] / first)
    rate = float(f"{_log_uniform(rng, 0.05, 5) / at_one:.3g}")
    return replace(protocol, learning_rate=rate)


def draw_cases(seed: int, count: int) -> Iterator[Case]:
    """Draw protocols and spiked features in turn, with dimensions in turn."""
    for i in range(count):
        rng = np.random.default_rng([seed, i])
        problem = draw_protocol(rng) if i % 2 == 0 else draw_features(rng)
        grid = Grid((_log_uniform(rng, 0.3, 4),), (_log_uniform(rng, 1e-3, 100),))
        yield Case(problem, grid, DIMENSIONS[i // 2 % len(DIMENSIONS)])


def theories(case: Case) -> list[float]:
    """Solve each theory; features given directly have no trained bulk, and get the isotropic."""
    errors = []
    for bulk, finite in THEORIES:
        bulk = bulk if isinstance(case.problem, Protocol) else "isotropic"
        dimension = case.dimension if finite else math.inf
        errors.append(solve(case.problem, case.grid, bulk, dimension).test_error.item())
    return errors


def compare(case: Case, seed: int, budget: float) -> Compared:
    """Simulate some networks, fewer of them at large d, and set them beside the theories."""
    networks = max(FEWEST, round(budget * NETWORKS * (100 / case.dimension) ** 1.2))
    sizes = Sizes(case.dimension, 1, TEST_SAMPLES)
    found = simulate(case.problem, case.grid, sizes, range(networks), seed, threads=CORES)
    errors = found.test_error.ravel()
    mean, error = errors.mean(), errors.std(ddof=1) / math.sqrt(networks)
    expected = np.array(theories(case))
    return Compared(
        case,
        tuple((mean - expected) / error),
        tuple(100 * (expected / mean - 1)),
        mean_absolute_t(networks - 1),
        100 * error / mean,
    )


def mean_absolute_t(freedom: int) -> float:
    """Compute E|t| for Student's t: 0.80 for many degrees of freedom, more for few."""
    gammas = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    return 2 * math.sqrt(freedom / math.pi) / (freedom - 1) * math.exp(gammas)


def table(compared: Sequence[Compared]) -> str:
    """Tabulate mean |z|, median and largest gap of each theory, by kind of problem and by d."""
    rows = [["problems", "d", "number", "chance", *NAMES]]
    for label, kind in (("networks", Protocol), ("spiked features", SpikedFeatures)):
        of_kind = [one for one in compared if isinstance(one.case.problem, kind)]
        for low, high in ((100, 150), (220, 330), (500, 1000), (100, 1000)):
            some = [one for one in of_kind if low <= one.case.dimension <= high]
            if some:
                rows.append([label, f"{low} to {high}", *_scores(some, kind is Protocol)])
    rows.insert(1, ["---"] * len(rows[0]))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _scores(some: Sequence[Compared], trained: bool) -> list[str]:
    """Write number, chance, and the score of each theory that differs from the others."""
    cells = [str(len(some)), f"{np.mean([one.chance for one in some]):.2f}"]
    for k, (bulk, _) in enumerate(THEORIES):
        z = np.mean([abs(one.z[k]) for one in some])
        gaps = np.array([one.gap[k] for one in some])
        median, largest = np.median(np.abs(gaps)), gaps[np.argmax(np.abs(gaps))]
        cell = f"{z:.2f} ({median:.1f}, {largest:+.0f} %)"
        cells.append(cell if trained or bulk == "isotropic" else "")
    return cells


def listing(compared: Sequence[Compared]) -> str:
    """List every case, the largest |z| against the last theory first."""
    order = sorted(compared, key=lambda one: -abs(one.z[-1]))
    return "\n".join(
        f"d={one.case.dimension} {one.case.grid.alpha + one.case.grid.ridge} +-{one.error:.2f}% "
        f"gaps {' '.join(f'{gap:+.1f}' for gap in one.gap)} z {one.z[-1]:+.1f} {one.case.problem}"
        for one in order
    )


def main() -> None:
    """Draw, compare, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--problems", type=int, default=64)
    parser.add_argument("--budget", type=float, default=1.0, help="factor on numbers of networks")
    parser.add_argument("--each", action="store_true", help="also list every problem")
    arguments = parser.parse_args()
    cases = draw_cases(arguments.seed, arguments.problems)
    compared = [compare(case, arguments.seed, arguments.budget) for case in cases]
    print(table(compared))
    if arguments.each:
        print(listing(compared))


if __name__ == "__main__":
    main()
