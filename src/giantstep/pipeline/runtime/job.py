"""The frame of every job of the workflow: its log, its way to stop, and its exit code."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from giantstep.pipeline.runtime.checksums import DamagedFileError
from giantstep.pipeline.runtime.job_check import ChangedJobError
from giantstep.pipeline.runtime.run_lock import RECORDS, join_run
from giantstep.pipeline.runtime.run_times import timed
from giantstep.pipeline.runtime.signals import handle_stop_signals
from giantstep.validation import InvalidParametersError

# The exit code of a command that Ctrl-C ended.
STOPPED = 130
log = logging.getLogger("giantstep")


@contextlib.contextmanager
def logged(path: str | Path) -> Iterator[None]:
    """Run a job: log to standard error and a file, and end with a message instead of an exception.

    A job that is stopped (SIGINT, SIGTERM) keeps what is finished, and leaves no partial file.

    Parameters
    ----------
    path : str or Path
        The log file, logs/STAGE/NAME, which is overwritten.

    Raises
    ------
    SystemExit
        If the job failed or was stopped.
    """
    _log_to(path)
    handle_stop_signals()
    try:
        with join_run(RECORDS), timed(Path(path).parts[1], RECORDS):
            yield
    except KeyboardInterrupt:
        log.warning("stopped: what is finished is kept; run again to go on")
        sys.exit(STOPPED)
    except Exception as error:
        _log_error(error)
        sys.exit(1)


def _log_error(error: Exception) -> None:
    """Log an error, and where it happened unless its message says what to do."""
    known = ChangedJobError, DamagedFileError, InvalidParametersError, MemoryError, OSError
    if isinstance(error, known):
        log.error("error: %s", error)
    else:
        log.error("error:", exc_info=error)


def make_missing(
    paths: Sequence[str], make: Callable[[Path, Any], None], given: Sequence[Any]
) -> None:
    """Make those of several results that do not exist; an error in one does not stop the others.

    Parameters
    ----------
    paths : sequence of str
        The results' files.
    make : callable
        Called with the file of a result that is missing, and what is given for it.
    given : sequence

    Raises
    ------
    SystemExit
        After all, if any failed.
    """
    failed = False
    for path, of_result in zip(map(Path, paths), given, strict=True):
        if path.exists():
            continue
        log.info("%s", path)
        try:
            make(path, of_result)
        except Exception as error:
            _log_error(error)
            failed = True
    if failed:
        sys.exit(1)


def _log_to(path: str | Path) -> None:
    """Send log messages and warnings to standard error and a file."""
    handlers: list[logging.Handler] = [
        logging.StreamHandler(),
        logging.FileHandler(path, mode="w", encoding="utf-8"),
    ]
    # Of other libraries, warnings only.
    logging.basicConfig(level=logging.WARNING, format="%(message)s", handlers=handlers, force=True)
    log.setLevel(logging.INFO)
    logging.captureWarnings(True)
    logging.raiseExceptions = False  # a full disk stops the log, not the job


def progress_log(name: str) -> Callable[[str], None]:
    """Return a function that logs a job's progress, with its name and the seconds so far."""
    start = time.monotonic()
    return lambda text: log.info("%s: %s, %.0f s", name, text, time.monotonic() - start)
