"""Check the theory of inputs with a covariance against networks, in random settings.

Spectra, decays of the target, activations, targets, batches and ridges are drawn from a seed, with
a rate that gives the spike a strength drawn likewise, and networks trained at two dimensions. The
table has the mean of |z| and the gaps of networks from the trained bulk at these dimensions, by the
largest of chi_2, chi_3 and chi_rows. It takes less than a minute of one core.

    OMP_NUM_THREADS=1 nice python benchmarks/random_covariances.py [--settings 24] [--each]
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from draws import between
from numpy.random import Generator
from random_settings import ERRORS, NETWORKS, ODD, Setting, chance, train
from table import print_header, print_row

import giantstep
from giantstep import Protocol
from giantstep.arrays import Array
from giantstep.theory.first_layer.equivalent_features import equivalent_features

TARGETS = ("sin", "sign", "tanh", "relu", "polynomial:0,1,0,0.2", "polynomial:-0.5,1,0.5")
# Of which the largest says how far the theory holds, and ends of its bins.
CHI = ("chi_2", "chi_3", "chi_rows")
BINS = (0.0, 0.03, 0.3, 3.0, np.inf)


class Point(NamedTuple):
    """A setting at one dimension: the largest chi, and gaps and scores of both errors."""

    dimension: int
    chi: float
    gap: Array
    score: Array


def draw(rng: Generator) -> Setting:
    """Draw a setting."""
    two_level = f"two_level:{between(rng, 2, 30):g},{between(rng, 0.05, 0.5):g}"
    problem = Protocol(
        str(rng.choice(ODD)),
        str(rng.choice(TARGETS)),
        learning_rate=1,
        alpha0=between(rng, 0.3, 4),
        beta=between(rng, 0.5, 2),
        noise=float(rng.choice((0, 0, 0.2))),
        covariance=two_level if rng.random() < 0.3 else f"power:{rng.uniform(0.1, 1.6):.2f}",
        target_decay=round(float(rng.uniform(0, 2.5)), 2),
    )
    strength = equivalent_features(problem, max(NETWORKS)).spike_strength[0]
    problem = replace(problem, learning_rate=float(f"{between(rng, 0.3, 3) / strength:.3g}"))
    return Setting(problem, between(rng, 0.5, 3), between(rng, 0.01, 1))


def compare(setting: Setting, dimension: int, seed: int) -> Point:
    """Put networks beside the theory of their dimension."""
    theory = giantstep.solve(*setting, dimension=dimension)
    errors = np.array([float(theory[name]) for name in ERRORS])
    mean, stderr = train(setting, dimension, range(NETWORKS[dimension]), seed)
    chi = max(float(theory[name]) for name in CHI)
    return Point(dimension, chi, mean / errors - 1, (mean - errors) / stderr)


def tabulate(points: list[Point]) -> None:
    """Print a row for each bin of chi and dimension."""
    print_header("largest chi", "d", "points", "mean |z|", "mean gap", "mean |gap|", "training |z|")
    for low, high in pairwise(BINS):
        for dimension, networks in NETWORKS.items():
            here = [p for p in points if p.dimension == dimension and low <= p.chi < high]
            if here:
                gaps, scores = (
                    np.array([getattr(p, name) for p in here]) for name in Point._fields[2:]
                )
                print_row(
                    f"{low:g} to {high:g}",
                    f"{dimension} (noise {chance(networks):.2f})",
                    f"{len(here)}",
                    f"{np.abs(scores[:, 0]).mean():.1f}",
                    f"{100 * gaps[:, 0].mean():+.1f} %",
                    f"{100 * np.abs(gaps[:, 0]).mean():.1f} %",
                    f"{np.abs(scores[:, 1]).mean():.1f}",
                )


def main() -> None:
    """Parse the command line, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--settings", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", action="store_true", help="list all settings")
    options = parser.parse_args()
    rng, start, points = np.random.default_rng(options.seed), time.process_time(), list[Point]()
    for _ in range(options.settings):
        setting = draw(rng)
        points += [compare(setting, dimension, options.seed) for dimension in NETWORKS]
        if options.each:
            both = (f"{100 * p.gap[0]:+.1f}/{p.score[0]:+.1f}" for p in points[-len(NETWORKS) :])
            of = setting.problem
            print(
                f"{points[-1].chi:.3g}", *both, setting, of.covariance, of.target_decay, flush=True
            )
    tabulate(points)
    print(f"{time.process_time() - start:.0f} s of processor time", flush=True)


if __name__ == "__main__":
    main()
