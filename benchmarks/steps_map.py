"""What a map over learning rates, batch sizes and steps takes: seconds of one core.

A sweep over protocols, scaled to 10,000 of them. Protocols that differ in the number of steps share
the first ones, so each adds one step of the recursion on each of two rules, and one solution.

With trained bulks, on a machine that was busy: 490 s for tanh (800 s before each solution started
from one nearby), 1,600 s for relu (3,000 s).

    python benchmarks/steps_map.py
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import giantstep

ROWS, STEPS, MAP = 7, (1, 2, 3, 4, 5), 10_000
CASES = (
    ("tanh", "sin", "isotropic"),
    ("tanh", "sin", "trained"),
    ("tanh", "sign", "isotropic"),
    ("relu", "sin", "isotropic"),
    ("relu", "sin", "trained"),
)


def seconds(activation: str, target: str, bulk: str) -> float:
    """Measure a map through the public function, after a first one that loads everything."""
    problem = giantstep.Protocol(activation, target, learning_rate=1, alpha0=1, beta=1)
    fixed: dict[str, Any] = {
        "alpha": 2.0,
        "ridge": 0.1,
        "bulk": bulk,
        "classification_error": False,
    }
    giantstep.sweep(problem, **fixed)
    start = time.process_time()
    giantstep.sweep(
        problem,
        learning_rate=np.geomspace(0.25, 8, ROWS),
        alpha0=np.geomspace(0.5, 30, ROWS),
        steps=STEPS,
        **fixed,
    )
    return (time.process_time() - start) * MAP / (ROWS**2 * len(STEPS))


def main() -> None:
    """Measure, and print."""
    print(f"activation target bulk: s of {MAP} protocols")
    for case in CASES:
        print(*case, f"{seconds(*case):.0f}", flush=True)


if __name__ == "__main__":
    main()
