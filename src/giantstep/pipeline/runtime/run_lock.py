"""One run at a time in a folder, and no job that outlives its run.

Snakemake's own locks are files, which stay when a run is killed. These are the operating system's,
which are released when the process that holds them ends, for whatever reason.
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

# The folder of a run's records, from where it is started: Snakemake's own.
RECORDS = Path(".snakemake")
# The environment variable by which jobs know the process of their run.
_RUN = "GIANTSTEP_RUN"
# Seconds between two checks that the run is alive.
_CHECK_EVERY = 0.5
# Locks that are held until the process ends.
_held: list[TextIO] = []


class AnotherRunError(RuntimeError):
    """Another run is at work in the folder."""


def announce_run() -> None:
    """Let the jobs that this process starts know that they belong to it, and end with it."""
    os.environ[_RUN] = str(os.getpid())


def acquire_run_lock(folder: Path, warn: Callable[[str], None]) -> None:
    """Lock a folder until this process ends, after waiting for the jobs of an earlier run.

    Parameters
    ----------
    folder : Path
        Of the run's records.
    warn : callable
        Called with what is waited for.

    Raises
    ------
    AnotherRunError
        If another run holds the lock.
    """
    run = _opened(folder / "run.lock")
    try:
        _lock(run, fcntl.LOCK_EX | fcntl.LOCK_NB, warn)
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
            warn("Jobs of a run that was killed are still at work: waiting for their end")
            _lock(jobs, fcntl.LOCK_EX, warn)


def _opened(path: Path) -> TextIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("a+", encoding="utf-8")


def _of_jobs(folder: Path) -> Path:
    """Name the lock that the jobs on this machine share; a scheduler ends those elsewhere."""
    return folder / f"jobs-{platform.node()}.lock"


def _lock(file: TextIO, how: int, warn: Callable[[str], None]) -> None:
    try:
        fcntl.flock(file, how)
    except BlockingIOError:
        raise
    except OSError as error:
        warn(f"No locks on this file system ({error.strerror}): start no other run beside this")


@contextlib.contextmanager
def join_run(folder: Path) -> Iterator[None]:
    """Make this process a job of the run that started it: it is stopped when that run ends.

    A process that no run has started is left alone.

    Parameters
    ----------
    folder : Path
        As in `acquire_run_lock`.
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
        threading.Event().wait(_CHECK_EVERY)


def _stop_unless_alive(run: int) -> bool:
    if alive(run):
        return True
    os.kill(os.getpid(), signal.SIGTERM)
    return False
