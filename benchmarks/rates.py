"""Whether the best learning rate transfers: across widths, batches and numbers of steps.

Printed are rows of config/figures/figs27.csv: test errors over the rate at several widths, by the
theory as d -> infinity, at the networks' dimension and by networks; and the rates of least error.

    nice python benchmarks/rates.py [--networks 8] [--dimension 300]
"""

from __future__ import annotations

import numpy as np
from table import begin_rows

import giantstep
from giantstep import Protocol

ALPHA, RIDGE = 2, 1.0
WIDTHS = 0.25, 0.5, 1, 2, 4, 8
# Learning rates over the width, of lines and of networks.
RATES, FEW = 2 ** np.arange(-1, 4.01, 0.25), 2.0 ** np.arange(0, 4)
STEPS = {"1": {"alpha0": 1}, "4": {"alpha0": 4}, "16": {"alpha0": 16}}
STEPS |= {f"{k} steps": {"alpha0": 4, "steps": k} for k in (2, 4)}


def least(errors: list[float]) -> float:
    """Return the rate of the least error, by a parabola through the three next to it."""
    i = int(np.argmin(errors))
    if not 0 < i < len(errors) - 1:
        return float("nan")
    bend, slope, _ = np.polyfit([-1, 0, 1], errors[i - 1 : i + 2], 2)
    return float(RATES[i] * 2 ** (-slope / (8 * bend)))


def main() -> None:
    """Print all rows."""
    given = begin_rows(__doc__, 300)
    for beta in (0.25, 1, 4):
        for rate in sorted({*RATES, *FEW}):
            problem = Protocol("tanh", "sin", rate * beta, alpha0=4, beta=beta)
            if rate in FEW:
                both = giantstep.compare(problem, ALPHA, RIDGE, **vars(given))
                theory = both.test_error.values.tolist()
                networks = both.simulated_test_error_mean, both.simulated_test_error_stderr
                numbers = *theory, *(x.item() for x in networks)
            else:
                at = [np.inf, given.dimension]
                solved = [giantstep.solve(problem, ALPHA, RIDGE, dimension=d) for d in at]
                numbers = *(x.test_error.item() for x in solved), np.nan, np.nan
            print("error", beta, f"{rate:.4g}", *(f"{x:.5g}" for x in numbers), sep=",", flush=True)
    for name, of in STEPS.items():
        for beta in WIDTHS:
            problems = [Protocol("tanh", "sin", rate * beta, beta=beta, **of) for rate in RATES]
            errors = [
                giantstep.solve(x, ALPHA, "optimal", bulk="isotropic").test_error.item()
                for x in problems
            ]
            print("best", name, beta, f"{least(errors):.4g}", "", "", "", sep=",", flush=True)


if __name__ == "__main__":
    main()
