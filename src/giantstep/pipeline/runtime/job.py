"""What a workflow's job says: to the terminal, and to its own log."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

from giantstep.pipeline.runtime.checksums import DamagedFileError
from giantstep.pipeline.runtime.run_lock import RECORDS, job
from giantstep.pipeline.runtime.signals import listen
from giantstep.validation import InvalidParametersError

# What a shell says of a command that Ctrl-C ended.
STOPPED = 130


class _Both:
    """A text stream that writes to a terminal and a log, as long as each takes it.

    A full disk ends neither what is said of it, nor a job.
    """

    def __init__(self, terminal: TextIO, log: BinaryIO) -> None:
        self.terminal, self.log = terminal, log

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            self.terminal.write(text)
            self.terminal.flush()
        with contextlib.suppress(OSError):
            self.log.write(text.encode())
        return len(text)

    def flush(self) -> None:
        """Do nothing: all is written at once."""


@contextlib.contextmanager
def logged(path: str | Path) -> Iterator[None]:
    """Copy standard error to a job's log; end the job with a message where that says it all.

    A job that is told to stop (SIGINT, SIGTERM) leaves what is finished, and nothing half-written.

    Parameters
    ----------
    path : str or Path
        The log; made anew.
    """
    with Path(path).open("wb", buffering=0) as log:
        both = _Both(sys.stderr, log)
        with contextlib.redirect_stderr(both):
            listen()
            try:
                with job(RECORDS):
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
