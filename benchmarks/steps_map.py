"""What a map over learning rates, batch sizes and steps takes: seconds of one core per protocol.

Protocols that differ in the number of steps share the first ones, so each adds one step of the
recursion on each of two rules, and one solution. Processor time on a busy machine:

    ms: step, step on the finer rule, solution; s of 10000 protocols
    tanh sin 2.4 5.0 5.4 128
    tanh sign 5.4 10.3 7.0 228
    relu sin 6.5 14.8 23.1 444

Before states were shared, panels wider and arrays no longer stacked, a step took 7.8 and 21 ms for
tanh and sin, 13 and 52 for relu and sin, and was taken again for each number of steps: with steps
up to five such a map took 900 s for tanh and sin, seven times as long.

    python benchmarks/steps_map.py
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise, product

from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.theory.several_steps import network_states
from giantstep.theory.solve import solve

RATES, BATCHES, STEPS = (0.5, 1.0, 2.0, 3.0), (1.0, 4.0), 5
POINT = Grid((2.0,), (0.1,))
MAP = 10_000


def milliseconds(activation: str, target: str) -> tuple[float, float, float]:
    """Measure, for each protocol of a map, the recursion on either rule, and the solution."""
    last = [
        Protocol(activation, target, rate, alpha0=alpha0, beta=1, steps=STEPS)
        for rate, alpha0 in product(RATES, BATCHES)
    ]
    every = [replace(protocol, steps=k) for protocol in last for k in range(2, STEPS + 1)]
    clock = [time.process_time()]
    for fineness in (1, 2):
        for protocol in last:
            network_states(protocol, fineness)
        clock.append(time.process_time())
    for protocol in every:
        solve(protocol, POINT, "trained_norms")
    clock.append(time.process_time())
    coarse, fine, solved = (1000 * (b - a) for a, b in pairwise(clock))
    steps = len(last) * STEPS
    return coarse / steps, fine / steps, solved / len(every)


def main() -> None:
    """Measure, and print."""
    print(f"ms: step, step on the finer rule, solution; s of {MAP} protocols")
    for activation, target in (("tanh", "sin"), ("tanh", "sign"), ("relu", "sin")):
        parts = milliseconds(activation, target)
        print(
            activation, target, *(f"{part:.1f}" for part in parts), f"{sum(parts) * MAP / 1e3:.0f}"
        )


if __name__ == "__main__":
    main()
