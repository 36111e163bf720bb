"""The cost model beside measurements: time and memory of simulated networks of several sizes.

Every case runs in a process of its own, in one thread; time is the processor's, so that what else
runs on the machine matters little:

    python benchmarks/costs.py [--quick]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

from giantstep.problems.grid import Grid
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes
from giantstep.problems.spiked_features import one_spike
from giantstep.questions.costs import cost_of
from giantstep.questions.task import Task
from giantstep.simulation.simulate import simulate

USUAL = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0)
# Name, dimension, what differs from the usual problem, sample complexities, ridges.
CASES: tuple[tuple[str, int, dict[str, Any], tuple[float, ...], tuple[float, ...]], ...] = (
    ("usual", 250, {}, USUAL, (0.1,)),
    ("usual", 500, {}, USUAL, (0.1,)),
    ("usual", 1000, {}, USUAL, (0.1,)),
    ("usual", 2000, {}, USUAL, (0.1,)),
    ("usual", 3000, {}, USUAL, (0.1,)),
    ("no step", 1000, {"alpha0": 0}, USUAL, (0.1,)),
    ("population", 500, {"alpha0": float("inf")}, USUAL, (0.1,)),
    ("population", 1000, {"alpha0": float("inf")}, USUAL, (0.1,)),
    ("population", 2000, {"alpha0": float("inf")}, (0.5, 3.0), (0.1,)),
    ("large batch", 1000, {"alpha0": 8}, (1.0,), (0.1,)),
    ("narrow", 2000, {"beta": 0.25}, USUAL, (0.1,)),
    ("wide", 1000, {"beta": 4}, USUAL, (0.1,)),
    ("dual only", 2000, {}, (0.3, 0.9), (0.1,)),
    ("dual only", 2000, {"beta": 2}, (0.5, 1.0), (0.1,)),
    ("double", 1000, {}, USUAL, (1e-4,)),
    ("double", 2000, {}, (0.5, 1.0, 3.0), (1e-4,)),
    ("six ridges", 1000, {}, (0.5, 1, 2, 3), (1e-4, 1e-3, 1e-2, 0.1, 1, 10)),
    ("one point", 2000, {}, (2.0,), (0.1,)),
    ("spiked", 1000, {"spiked": True}, USUAL, (0.1,)),
)
SIZES = {"trainings": 2, "test_samples": 10_000}


def problem(differing: dict[str, Any]) -> Problem:
    """Make a case's problem."""
    if differing.get("spiked"):
        return one_spike("tanh", "sin", 1.0, 2.0, 0.8, 1.0)
    return Protocol(**{
        "activation": "tanh", "target": "sign", "learning_rate": 3, "alpha0": 1, "beta": 1,
    } | differing)  # fmt: skip


def measured(case: int) -> tuple[float, float]:
    """Run one network; give its seconds, and the MiB that it takes beyond an idle process."""
    _, d, differing, alphas, ridges = CASES[case]
    warm = Protocol("tanh", "sign", learning_rate=1, alpha0=1, beta=1)
    simulate(warm, Grid((0.5, 2), (0.1,)), Sizes(64), [0], 1)  # whatever is loaded on first use
    idle, start = peak(), time.process_time()
    simulate(problem(differing), Grid(alphas, ridges), Sizes(d, **SIZES), [0], 1)
    return time.process_time() - start, peak() - idle


def peak() -> float:
    """Return the largest memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run(case: int) -> tuple[float, float]:
    """Measure a case in a process of its own."""
    command = [sys.executable, __file__, "--case", str(case)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, memory = json.loads(done.stdout)
    return seconds, memory


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="up to d = 1000 only")
    parser.add_argument("--case", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case is not None:
        print(json.dumps(measured(arguments.case)))
        return
    print("case              d      seconds   model    MiB   model")
    for number, (name, d, differing, alphas, ridges) in enumerate(CASES):
        if arguments.quick and d > 1000:
            continue
        sizes = {"dimension": d, "networks": [0], **SIZES}
        task = Task("replicates", problem(differing), {"alpha": alphas, "ridge": ridges, **sizes})
        (seconds, memory), expected = run(number), cost_of(task)
        row = f"{seconds:8.2f} {expected.seconds:7.2f} {memory:6.0f} {expected.memory:7.0f}"
        print(f"{name:14} {d:5} {row}", flush=True)


if __name__ == "__main__":
    main()
