"""What a workflow's job says: to the terminal, and to its own log."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from giantstep.dataset import DamagedFileError
from giantstep.faults import InvalidParametersError
from giantstep.interruption import listen

# What a shell says of a command that Ctrl-C ended.
STOPPED = 130


class _Both:
    """A text stream that writes to two."""

    def __init__(self, *streams: TextIO) -> None:
        self.streams = streams

    def write(self, text: str) -> int:
        for stream in self.streams:
            stream.write(text)
            stream.flush()
        return len(text)

    def flush(self) -> None:
        for stream in self.streams:
            stream.flush()


@contextlib.contextmanager
def logged(path: str | Path) -> Iterator[None]:
    """Copy standard error to a job's log; end the job with a message where that says it all.

    A job that is told to stop (SIGINT, SIGTERM) leaves what is finished, and nothing half-written.

    Parameters
    ----------
    path : str or Path
        The log; made anew.
    """
    with Path(path).open("w", encoding="utf-8") as log:
        both = _Both(sys.stderr, log)
        with contextlib.redirect_stderr(both):
            listen()
            try:
                yield
            except KeyboardInterrupt:
                print("stopped: what is finished is kept; run again to go on", file=both)
                sys.exit(STOPPED)
            except (DamagedFileError, InvalidParametersError, MemoryError, OSError) as error:
                print(f"error: {error}", file=both)
                sys.exit(1)
            except Exception:
                traceback.print_exc(file=both)
                sys.exit(1)
