"""One run at a time in a folder, and no job that outlives its run.

Snakemake's own locks are files, which a killed run leaves behind. These are the operating system's:
they go with the processes that hold them, however these end.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from giantstep.pipeline.runtime.processes import alive

# Where runs keep their records, from the folder that they are in: Snakemake's own place.
RECORDS = Path(".snakemake")
# Where a run tells its jobs which process it is.
_RUN = "GIANTSTEP_RUN"
# Seconds between two looks at whether the run is still there.
_PATIENCE = 0.5
# Locks that are held until the process ends.
_held: list[TextIO] = []


class AnotherRunError(RuntimeError):
    """The folder is taken by another run."""


def lead() -> None:
    """Make this process the one whose end is the end of the jobs that it starts."""
    os.environ[_RUN] = str(os.getpid())


def begin(folder: Path, say: Callable[[str], None]) -> None:
    """Take a folder for a run until this process ends, once all jobs of an earlier one have.

    Parameters
    ----------
    folder : Path
        Where runs keep their records.
    say : callable
        Told what is waited for.

    Raises
    ------
    AnotherRunError
        If another run has the folder.
    """
    run = _opened(folder / "run.lock")
    try:
        _lock(run, fcntl.LOCK_EX | fcntl.LOCK_NB, say)
    except BlockingIOError:
        run.seek(0)
        raise AnotherRunError(
            f"another run is at work in this folder (process {run.read().strip()}): wait for its"
            " end, or stop it with Ctrl-C"
        ) from None
    _held.append(run)
    run.truncate(0)
    print(os.getpid(), file=run, flush=True)
    with _opened(_of_jobs(folder)) as jobs:
        try:
            _lock(jobs, fcntl.LOCK_EX | fcntl.LOCK_NB, lambda text: None)
        except BlockingIOError:
            say("Jobs of a run that was killed are still at work: waiting for their end")
            _lock(jobs, fcntl.LOCK_EX, say)


def _opened(path: Path) -> TextIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("a+", encoding="utf-8")


def _of_jobs(folder: Path) -> Path:
    """Name what jobs on this machine hold; those elsewhere are a scheduler's to end."""
    return folder / f"jobs-{platform.node()}.lock"


def _lock(file: TextIO, how: int, say: Callable[[str], None]) -> None:
    try:
        fcntl.flock(file, how)
    except BlockingIOError:
        raise
    except OSError as error:
        say(f"No locks on this file system ({error.strerror}): take care that no other run is on")


@contextlib.contextmanager
def job(folder: Path) -> Iterator[None]:
    """Be one of a run's jobs: end soon, as if told to stop, where the run is no more.

    What no run has started is left alone.

    Parameters
    ----------
    folder : Path
        As in `begin`.
    """
    if _RUN not in os.environ:
        yield
        return
    run = int(os.environ[_RUN])
    with _opened(_of_jobs(folder)) as jobs:
        _lock(jobs, fcntl.LOCK_SH, lambda text: None)
        _stop_unless_alive(run)
        threading.Thread(target=_watch, args=(run,), daemon=True).start()
        yield


def _watch(run: int) -> None:
    while _stop_unless_alive(run):
        threading.Event().wait(_PATIENCE)


def _stop_unless_alive(run: int) -> bool:
    if alive(run):
        return True
    os.kill(os.getpid(), signal.SIGTERM)
    return False
