"""How times grow, in one table: theory, simulation, planning and merging; ratios in one run.

    python benchmarks/growth.py [--quick]

Times of the theory, and of simulations by dimension, are the processor's. All others are times on
the wall, for which the machine should be idle. Ratios are to the row of ratio one. `--quick` leaves
out the largest.
"""

from __future__ import annotations

import argparse
import contextlib
import io
from itertools import count

import numpy as np
from scale import dry_run, merge_again
from simulation import CORES, counted_arithmetic, ours, product_rates
from table import print_growth, print_header, processor_seconds, seconds
from threadpoolctl import threadpool_limits

import giantstep
from giantstep import Protocol, SpikedFeatures
from giantstep.problems.bulk_kind import BULKS
from giantstep.problems.grid import Grid
from giantstep.theory.readout.solve import Readout, readout_of, solve

PROBLEM = Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1)
SIGNS = Protocol("tanh", "sign", learning_rate=3, alpha0=2, beta=1)
RATES = (3 + i / 1000 for i in count(1))


def grid(points: int) -> Grid:
    """Spread points over alpha and ridge, evenly in their logarithms."""
    side = round(points**0.5)
    return Grid(tuple(np.geomspace(0.1, 10, side)), tuple(np.geomspace(1e-3, 10, points // side)))


def new_problem() -> Protocol:
    """Make a protocol that nothing is known of but its functions."""
    return Protocol("tanh", "sin", learning_rate=next(RATES), alpha0=20, beta=1)


def single_points() -> None:
    """Print what one point takes, of a problem known and new, as arrays and as a dataset."""
    one, repeats = grid(1), 100
    cases = [
        ("solve, known problem", processor_seconds(lambda: solve(PROBLEM, one), repeats)),
        ("solve, new problem", processor_seconds(lambda: solve(new_problem(), one), repeats)),
        ("giantstep.solve, known problem", processor_seconds(
            lambda: giantstep.solve(PROBLEM, alpha=1, ridge=0.1), repeats)),
        ("giantstep.solve, new problem", processor_seconds(
            lambda: giantstep.solve(new_problem(), alpha=1, ridge=0.1), repeats)),
    ]  # fmt: skip
    print_growth("theory, one point", cases, "calls of Python, some 1,500 for a known problem")


def per_point(readout: Readout, points: int) -> float:
    """Measure a solver's time per point of a grid."""
    asked = grid(points)
    alpha, ridge = np.meshgrid(asked.alpha, asked.ridge)
    readout.solve(alpha, ridge)
    return processor_seconds(lambda: readout.solve(alpha, ridge)) / alpha.size


def theory(quick: bool) -> None:
    """Print times per point, by points, groups, bulk and loss."""
    single_points()
    sizes = (1, 10, 100, 1000, 10_000) if quick else (1, 10, 100, 1000, 10_000, 100_000)
    known = readout_of(PROBLEM)
    cases = [(f"{size:,} at once", per_point(known, size)) for size in sizes]
    print_growth("theory, per point", cases, "memory bandwidth of arrays points by nodes", 4)
    cases = [
        (f"groups: {groups}", per_point(readout_of(of_groups(groups)), 1000))
        for groups in (1, 2, 3, 6)
    ]
    print_growth("theory, per point of 1,000", cases, "systems of groups² unknowns")
    cases = [(bulk, per_point(readout_of(PROBLEM, bulk), 1000)) for bulk in BULKS]
    print_growth("theory, per point of 1,000", cases, "arrays points by nodes, forms of the bulk")
    losses = ("square", "huber", "hinge", "logistic")
    cases = [(loss, per_point(readout_of(SIGNS, loss=loss), 25)) for loss in losses]
    print_growth("theory, per point of 25", cases, "normal distributions at 50,000 nodes")


def of_groups(count: int) -> SpikedFeatures:
    """Make features whose groups differ in their spikes."""
    strengths = tuple(np.linspace(0.5, 2, count)) if count > 1 else 1.0
    return SpikedFeatures("tanh", "sin", 1.2, strengths, 0.9, 1.0, fraction=(1 / count,) * count)


def simulation(quick: bool) -> None:
    """Print times of one network by dimension, and by threads."""
    dimensions = (500, 1000) if quick else (500, 1000, 2000)
    cases = [(f"d = {d}", processor_seconds(lambda d=d: ours(d, 1), 2)) for d in dimensions]
    largest, last = dimensions[-1], cases[-1][1]
    rate, _ = product_rates(1, processor_seconds)
    share = counted_arithmetic(largest) / rate / last
    limit = f"products in single precision: at d = {largest}, {share:.0%} of their rate"
    print_growth("simulation, one thread", cases, limit)
    threads = [
        (f"threads: {number}", seconds(lambda n=number: ours(largest, n), 2))
        for number in sorted({1, min(2, CORES), CORES})
    ]
    print_growth(f"simulation, d = {largest}", threads, "one over the number of threads")


def workflow(quick: bool) -> None:
    """Print times of a dry run by shards, and of merging by networks."""
    shards = (100,) if quick else (100, 1000)
    with contextlib.redirect_stdout(io.StringIO()):
        planned = [(f"{n:,} shards", dry_run(n)) for n in shards]
        merged = [(f"{n:,} networks", merge_again(n)) for n in shards]
    print_growth("dry run", planned, "Snakemake's start, some seconds, then its jobs")
    print_growth("merge of a figure", merged, "Snakemake's start, some seconds, then the file")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="without the largest sizes")
    arguments = parser.parse_args()
    print_header("what", "case", "time", "ratio", "limit")
    with threadpool_limits(1):
        theory(arguments.quick)
    simulation(arguments.quick)
    workflow(arguments.quick)


if __name__ == "__main__":
    main()
