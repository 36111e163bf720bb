"""The log of a job: its progress, and what stopped it, in a sentence where that says what to do."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from giantstep.validation import RefusalError
from giantstep.workflow import store

# Seconds between two lines of progress.
_PAUSE = 15.0
log = logging.getLogger("giantstep")


@contextmanager
def job_log(path: str | Path) -> Iterator[Callable[[float], None]]:
    """Log to a file and to standard error; give what is called with the share that is done.

    Raises
    ------
    SystemExit
        If the job failed, which is then logged.
    """
    # Of other libraries, warnings only.
    logging.basicConfig(
        level=logging.WARNING,
        format="%(message)s",
        handlers=[logging.StreamHandler(), logging.FileHandler(path, "w", "utf-8")],
        force=True,
    )
    log.setLevel(logging.INFO)
    logging.captureWarnings(True)
    logging.raiseExceptions = False  # a full disk stops the log, not the job
    started = last = time.monotonic()

    def progress(share: float) -> None:
        nonlocal last
        if (now := time.monotonic()) > last + _PAUSE:
            last = now
            log.info("%s: %.0f %%, %.0f s", Path(path).stem, 100 * share, now - started)

    try:
        yield progress
    except store.DamagedFileError as error:
        # The job that made the file does so again once it is missing.
        aside = store.set_aside(error.path)
        log.error(
            "error: %s. It was set aside as %s: run the same command again to make it anew",
            *(error, aside),
        )
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        is_told = isinstance(error, RefusalError | OSError | MemoryError)
        log.error("error: %s", error, exc_info=not is_told)
        sys.exit(1)
