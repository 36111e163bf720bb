"""The log of a job: what stopped it, in a sentence where that says what to do."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from giantstep.validation import RefusalError
from giantstep.workflow import store


@contextmanager
def job_log(path: str | Path) -> Iterator[None]:
    """Log warnings, and what stopped a job, to a file and to standard error.

    Raises
    ------
    SystemExit
        If the job failed, which is then logged.
    """
    handlers = logging.StreamHandler(), logging.FileHandler(path, "w", "utf-8")
    logging.basicConfig(format="%(message)s", handlers=handlers, force=True)
    logging.captureWarnings(True)
    logging.raiseExceptions = False  # a full disk stops the log, not the job
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        text = str(error)
        if isinstance(error, store.DamagedFileError):  # whose job makes it again once it is missing
            aside = error.path.replace(error.path.with_name(f"{error.path.name}.damaged"))
            text += f". It was set aside as {aside}: run the same command again to make it anew"
        is_told = isinstance(error, RefusalError | OSError | MemoryError)
        logging.error("error: %s", text, exc_info=not is_told)
        sys.exit(1)
