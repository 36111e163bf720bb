"""Averages of networks through the peak of double descent: rows of config/figures/figs25.csv.

nice python benchmarks/ensembles.py [--networks 8] [--dimension 200]
"""

from __future__ import annotations

import math

import numpy as np
from table import begin_rows

import giantstep
from giantstep import Protocol

PROBLEM = Protocol("tanh", "sin", 2, alpha0=20, beta=1, noise=0.1)
ALPHAS, FEW, RIDGE = np.geomspace(0.2, 5, 41), (0.25, 0.5, 0.75, 1.0, 1.25, 2, 4), 1e-2


def main() -> None:
    """Print all rows."""
    given = begin_rows(__doc__, 200)
    alpha = np.unique([*ALPHAS, *FEW])
    for members in (1, 2, 8, math.inf):
        kind = {"ridge": RIDGE, "ensemble": members}
        limit, finite = (
            giantstep.solve(PROBLEM, alpha, dimension=d, **kind).ensemble_error.values
            for d in (math.inf, given.dimension)
        )
        mean, stderr = np.full((2, alpha.size), math.nan)
        if members < math.inf:
            data = giantstep.simulate(PROBLEM, FEW, **kind, **vars(given))
            at = np.isin(alpha, FEW)
            mean[at], stderr[at] = data.ensemble_error, data.ensemble_error_stderr
        for numbers in zip(alpha, limit, finite, mean, stderr, strict=True):
            print("error", members, *(f"{x:.5g}" for x in numbers), sep=",")
    best = [
        giantstep.solve(PROBLEM, alpha, "optimal", dimension=d).test_error.values
        for d in (math.inf, given.dimension)
    ]
    for numbers in zip(alpha, *best, strict=True):
        print("error", "best", *(f"{x:.5g}" for x in numbers), "", "", sep=",")


if __name__ == "__main__":
    main()
