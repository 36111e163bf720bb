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
_WIDTH = 40


def bar(share: float) -> None:
    """Stand for a bar on a terminal where questions are defined; it shows nothing itself."""


@contextmanager
def progress_bar(instead: Progress | None = bar) -> Iterator[Progress]:
    """Give what is called with the share of the work that is done, and clear the bar at the end.

    Parameters
    ----------
    instead : callable, optional
        What to give instead of a bar.
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
    """Make what tells the share of all that is done, from that of one of several parts."""
    return lambda share: report((done + share) / count)
