"""Whether falling rates and growing batches pay at equal samples: three steps.

Printed are rows of config/figures/figs26.csv: for each ratio of the rates, or batches, of one step
and the last, the least test error of several sizes of the rates, over that of equal steps; by the
theory as d -> infinity, at the networks' dimension and by networks at the theory's best rates.

    nice python benchmarks/schedules.py [--networks 8] [--dimension 300]
"""

from __future__ import annotations

import math

import numpy as np
from table import begin_rows

import giantstep
from giantstep import Protocol

ALPHA, STEPS = 2, np.arange(3)
RATIOS = 2 ** np.arange(-1.5, 1.51, 0.25)
RATES = 1.2 * 1.25 ** np.arange(12)
# Targets, and samples of all batches over d; whether networks are trained.
CASES = (("sin", 6, True), ("sin", 24, False), ("sign", 12, False))


def protocol(target: str, samples: float, rate: float, rates: float, batches: float) -> Protocol:
    """Take three steps, whose rates have this geometric mean, on these samples in all."""
    shares = batches**STEPS / np.sum(batches**STEPS)
    each = tuple(rate * rates ** (STEPS - 1.0))
    return Protocol("tanh", target, each, tuple(samples * shares), 1, steps=STEPS.size)


def main() -> None:
    """Print all rows."""
    given = begin_rows(__doc__, 300)
    for target, samples, trained in CASES:
        reference = 1.0, 1.0, 1.0
        for panel, x in [("rates", 1.0), *((p, x) for p in ("rates", "batches") for x in RATIOS)]:
            ratios = (x, 1.0) if panel == "rates" else (1.0, x)
            problems = [protocol(target, samples, rate, *ratios) for rate in RATES]
            solved = [giantstep.solve(of, ALPHA, "optimal", bulk="isotropic") for of in problems]
            best = int(np.argmin([one.test_error.item() for one in solved]))
            theory, finite, mean, stderr = solved[best].test_error.item(), *[math.nan] * 3
            if trained and abs(math.log2(x) % 0.5) < 1e-9:
                both = giantstep.compare(problems[best], ALPHA, "optimal", **vars(given))
                finite = both.test_error.values[-1]
                mean = both.simulated_test_error_mean.item()
                stderr = both.simulated_test_error_stderr.item()
            if reference == (1.0, 1.0, 1.0):
                reference = theory, finite, mean
                continue
            numbers = theory / reference[0], finite / reference[1], mean / reference[2]
            numbers = *numbers, stderr / reference[2]
            name = f"{target} {samples}"
            print(panel, name, f"{x:.4g}", *(f"{x:.5g}" for x in numbers), sep=",", flush=True)


if __name__ == "__main__":
    main()
