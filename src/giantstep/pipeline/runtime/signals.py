"""Being told to stop: at once, but not in the middle of writing a file.

A process is told by signals, and has one way to take them: what is kept here is its state.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Wish:
    """Whether stopping is put off for now, and whether it was asked for meanwhile."""

    def __init__(self) -> None:
        self.put_off = 0
        self.pending = False

    def take(self, signum: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        if self.put_off:
            self.pending = True
        else:
            self.stop()

    def stop(self) -> None:
        """Raise KeyboardInterrupt, once: what cleans up after it is not interrupted again."""
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt


_wish = _Wish()


def listen() -> None:
    """Take SIGINT and SIGTERM as KeyboardInterrupt from now on; call from the main thread."""
    for number in _SIGNALS:
        signal.signal(number, _wish.take)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Put off stopping until the block's end: libraries that hold locks cannot be left anywhere."""
    _wish.put_off += 1
    try:
        yield
    finally:
        _wish.put_off -= 1
        if _wish.pending and not _wish.put_off:
            _wish.pending = False
            _wish.stop()
