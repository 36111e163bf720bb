"""Tables that benchmarks print, as the documentation shows them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from time import perf_counter, process_time
from typing import Any


def print_header(*titles: str) -> None:
    """Print the head of a Markdown table."""
    print_row(*titles)
    print_row(*["---"] * len(titles))


def print_row(*cells: object) -> None:
    """Print a row at once, as some take minutes."""
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def begin_rows(description: str | None, dimension: int) -> argparse.Namespace:
    """Print the head of the rows that a figure reads; return the sizes of its networks."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--networks", type=int, default=8)
    parser.add_argument("--dimension", type=int, default=dimension)
    given = parser.parse_args()
    print("panel,curve,x,theory,finite,mean,stderr")
    return given


def duration(seconds: float) -> str:
    """Write a duration to three digits, in the unit that suits it.

    Examples
    --------
    >>> duration(9.31e-6), duration(0.0021), duration(312)
    ('9.31 µs', '2.1 ms', '312 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def least(function: Callable[[], Any], repeats: int, clock: Callable[[], float]) -> float:
    """Measure the shortest of some calls by a clock."""
    taken = []
    for _ in range(repeats):
        start = clock()
        function()
        taken.append(clock() - start)
    return min(taken)


def processor_seconds(function: Callable[[], Any], repeats: int = 3) -> float:
    """Measure this process's time, which other programs on the machine change little."""
    return least(function, repeats, process_time)


def seconds(function: Callable[[], Any], repeats: int = 1) -> float:
    """Measure the time on the wall."""
    return least(function, repeats, perf_counter)


def print_growth(title: str, cases: Sequence[tuple[str, float]], limit: str, base: int = 0) -> None:
    """Print the cost of each case, over that of one of them, and what bounds it from below."""
    for name, cost in cases:
        print_row(title, name, duration(cost), f"{cost / cases[base][1]:.3g}", limit)
        title = limit = ""
