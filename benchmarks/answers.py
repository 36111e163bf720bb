"""What public calls take, as time and beside the authors' method: ratios, in one run.

Each row is the processor time of a call, on one thread, divided by its points; the ratio is how
many of these the method of `benchmarks/theory.py` takes for one point of the square loss.

    python benchmarks/answers.py
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np
from table import duration, least, print_header, print_row
from theory import POINTS, PROTOCOL, UsualWay
from threadpoolctl import threadpool_limits

import giantstep
from giantstep import Protocol
from giantstep.theory.first_layer.equivalent_features import equivalent_features

SIGN = replace(PROTOCOL, target="sign")
GRID = {"alpha": np.geomspace(0.1, 10, 100), "ridge": np.geomspace(1e-4, 10, 100)}
CURVE = {"alpha": np.geomspace(0.3, 5, 25), "ridge": 0.1}
# No point is asked for twice: what was solved last is kept.
ALPHAS = itertools.count(1.0, 1e-3)
Ask = Callable[..., Any]


def new_problems(problem: Protocol) -> itertools.count[float]:
    """Count learning rates of problems that no call has seen before."""
    return itertools.count(problem.learning_rate + 0.01, 0.01)


def ask_new(problem: Protocol, ask: Ask = giantstep.solve, **how: Any) -> Callable[[], Any]:
    """Call a question of a new problem each time."""
    rates = new_problems(problem)
    return lambda: ask(replace(problem, learning_rate=next(rates)), **how)


# What is called, how many points it has, and how often it is timed.
CALLS: dict[str, tuple[Callable[[], Any], int, int]] = {
    "10,000 points": (lambda: giantstep.solve(PROTOCOL, **GRID, bulk="isotropic"), 10_000, 3),
    "10,000 points, trained bulk": (lambda: giantstep.solve(PROTOCOL, **GRID), 10_000, 3),
    "10,000 points, sign": (lambda: giantstep.solve(SIGN, **GRID, bulk="isotropic"), 10_000, 3),
    "one point, new problem": (ask_new(PROTOCOL), 1, 9),
    "one point, known problem": (lambda: giantstep.solve(PROTOCOL, next(ALPHAS)), 1, 9),
    "25 points, huber": (ask_new(PROTOCOL, loss="huber", **CURVE), 25, 3),
    "25 points, logistic": (ask_new(SIGN, loss="logistic", **CURVE), 25, 3),
    "25 points, hinge": (ask_new(SIGN, loss="hinge", **CURVE), 25, 3),
    "25 points, best ridge": (ask_new(PROTOCOL, **CURVE | {"ridge": "optimal"}), 25, 3),
    "25 points, five steps": (ask_new(replace(PROTOCOL, steps=5), **CURVE), 25, 3),
    "two parameters optimised": (
        ask_new(PROTOCOL, giantstep.optimise, over=["learning_rate", "ridge"]), 1, 1,
    ),
    "plan of 6 samples": (ask_new(replace(PROTOCOL, alpha0=1), giantstep.plan, samples=6), 1, 1),
}  # fmt: skip


def main() -> None:
    """Print the table."""
    usual = UsualWay(equivalent_features(PROTOCOL))
    seconds = [least(lambda p=p: usual.solve(*p), 1, process_time) for p in POINTS]
    reference = float(np.mean(seconds))
    print(f"authors' method: {duration(reference)} a point")
    print_header("call", "a point", "authors' method over it")
    for name, (call, points, repeats) in CALLS.items():
        call()  # whatever is loaded or prepared on first use
        taken = least(call, repeats, process_time) / points
        print_row(name, duration(taken), f"{reference / taken:,.3g}")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
