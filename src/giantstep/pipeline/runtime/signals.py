"""Stopping by a signal: at once, but never while a file is being written.

Handlers of signals belong to the whole process, and so does the state of this module.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _PendingStop:
    """Whether stopping is deferred, and whether a signal has come meanwhile."""

    def __init__(self) -> None:
        self.deferred = 0
        self.pending = False

    def handle(self, signum: int, frame: FrameType | None) -> None:
        """Stop now, or when stopping is no longer deferred."""
        if self.deferred:
            self.pending = True
        else:
            self.stop()

    def stop(self) -> None:
        """Raise KeyboardInterrupt; later signals are ignored, and do not interrupt the clean-up."""
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt


_stop = _PendingStop()


def handle_stop_signals() -> None:
    """Turn SIGINT and SIGTERM into KeyboardInterrupt; to be called from the main thread."""
    for number in _SIGNALS:
        signal.signal(number, _stop.handle)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Defer stopping to the end of the block, so that libraries can release their locks."""
    _stop.deferred += 1
    try:
        yield
    finally:
        _stop.deferred -= 1
        if _stop.pending and not _stop.deferred:
            _stop.pending = False
            _stop.stop()
