"""What a sweep takes: a million points of one protocol, many protocols, and best ridges.

    OMP_NUM_THREADS=1 python benchmarks/sweep.py

On one core, shared with other programs: 15 s for the million points (15 us each), 6 ms for a
protocol, 7 ms for a best ridge.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import xarray as xr

from giantstep import Protocol, sweep

PROTOCOL = Protocol("tanh", "sin", learning_rate=3, alpha0=2, beta=1)


def report(text: str, ask: Callable[[], xr.Dataset], parts: int) -> None:
    """Print the core-seconds of a sweep and of each of its parts, and the points that failed."""
    started = time.process_time()
    found = ask()
    seconds = time.process_time() - started
    failed = int((found.status != 0).sum())
    print(f"{text}: {seconds:.1f} s, {seconds / parts * 1e6:,.0f} us each, {failed} failed")


def main() -> None:
    """Run the sweeps."""
    alpha, ridge = np.geomspace(0.1, 10, 1000), np.geomspace(1e-3, 10, 1000)
    rate, batch = np.geomspace(0.1, 10, 32), np.geomspace(0.1, 10, 32)
    million = "a million points of one protocol"
    report(million, lambda: sweep(PROTOCOL, alpha=alpha, ridge=ridge), 1_000_000)
    report("1024 protocols", lambda: sweep(PROTOCOL, learning_rate=rate, alpha0=batch), 1024)
    several = {"learning_rate": rate, "alpha": alpha[::100], "ridge": "optimal"}
    report("best ridges of 32 protocols", lambda: sweep(PROTOCOL, **several), 32)


if __name__ == "__main__":
    main()
