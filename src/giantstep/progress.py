"""A bar on a terminal for what takes more than a second; nothing in pipes."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[float], None]
# Seconds before the bar appears, and between its changes.
_PATIENCE, _PAUSE = 1.0, 0.1
# Characters of the bar.
_WIDTH = 40


def bar(share: float) -> None:
    """Stand for a bar on a terminal, as the default of questions; it shows nothing itself."""


@contextmanager
def progress_bar(instead: Progress | None = bar) -> Iterator[Progress]:
    """Yield a function that takes the share of the work that is done; clear the bar at the end.

    Parameters
    ----------
    instead : callable, optional
        The function to yield instead of a bar.
    """
    started, shown = time.monotonic(), 0.0

    def report(share: float) -> None:
        nonlocal shown
        now = time.monotonic()
        if now < max(started + _PATIENCE, shown + _PAUSE):
            return
        shown, left = now, (now - started) * (1 - share) / share if share > 0 else math.inf
        filled = "#" * round(_WIDTH * min(share, 1.0))
        line = f"giantstep [{filled:<{_WIDTH}}] {share:4.0%}, {left:.0f} s left"
        print(f"\r{line}\033[K", end="", file=sys.stderr, flush=True)

    shows = instead in (None, bar) and sys.stderr.isatty()
    try:
        yield report if shows else instead or bar
    finally:
        if shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def part(report: Progress, done: int, count: int) -> Progress:
    """Make a function that takes the share of one of several parts, and reports that of all."""
    return lambda share: report((done + share) / count)
