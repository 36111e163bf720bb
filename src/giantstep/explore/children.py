"""A child process that does tasks: the newest wins, and what is not wanted any more is killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext
from pkgutil import resolve_name
from typing import Any

from giantstep.validation import InvalidParametersError, RefusalError

# By which a task says what it finds; None says nothing, and ends a task that is superseded.
Say = Callable[[Any], None]
Deliver = Callable[[int, Any], None]
# Seconds that a superseded task may be silent.
GRACE = 0.25


class FailedError(Exception):
    """What a child says of a task that it could not do."""


def context() -> ForkServerContext:
    """Return the context of children, which start with the theory already imported.

    Nothing else is: the first picture waits for it.
    """
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["giantstep.explore.answers"])
    return made


class Child:
    """Does tasks in a process of its own, one at a time.

    A task that is superseded ends when it says something. If it is silent for `GRACE` seconds, its
    process is killed, and another one started.

    Parameters
    ----------
    work : str
        The function `module:name` that the child calls with a task, and with what it calls to say
        something. Only the child imports its module.
    deliver : callable
        Called with the number of a task, and with each thing that it says, a tuple of faults or an
        error; from a thread.
    """

    def __init__(self, work: str, deliver: Deliver) -> None:
        self._work, self._deliver = work, deliver
        self._lock = threading.RLock()
        # The newest task, not yet sent, and the one that was sent; each with its number.
        self._waiting: tuple[int, Any] | None = None
        self._doing: tuple[int, Any] | None = None
        self._process: Any = None
        self._pipe: Any = None
        self._stopped = False

    def ask(self, number: int, task: Any) -> None:
        """Do a task instead of all earlier ones."""
        with self._lock:
            if self._stopped:
                return
            first, self._waiting = self._waiting is None, (number, task)
            if self._doing is None:
                self._send()
            elif first:
                self._pipe.send(None)  # superseded
                timer = threading.Timer(GRACE, self._kill_late, [self._doing])
                timer.daemon = True
                timer.start()

    def cancel(self) -> None:
        """End the process, whatever it does."""
        with self._lock:
            self._waiting = None
            if self._process is not None:
                self._process.kill()
                self._process.join()
                self._pipe.close()
            self._process, self._pipe, self._doing = None, None, None

    def stop(self) -> None:
        """End the process for good."""
        with self._lock:
            self._stopped = True
            self.cancel()

    def _send(self) -> None:
        """Send the task that waits, if there is one, to the process, started if need be."""
        self._doing, self._waiting = self._waiting, None
        if self._doing is None:
            return
        if self._process is None:
            self._pipe, theirs = multiprocessing.Pipe()
            arguments = theirs, self._work
            self._process = context().Process(target=_serve, args=arguments, daemon=True)
            self._process.start()
            theirs.close()
            threading.Thread(target=self._read, args=(self._pipe,), daemon=True).start()
        self._pipe.send(self._doing)

    def _kill_late(self, late: tuple[int, Any]) -> None:
        with self._lock:
            newest = self._waiting
            if self._doing is late and newest is not None:
                self.cancel()
                self.ask(*newest)

    def _read(self, pipe: Connection) -> None:
        """Deliver what the child says, until it ends."""
        for number, said in _received(pipe):
            with self._lock:
                if said is None and pipe is self._pipe:  # the task has ended
                    self._send()
                wanted = said is not None and self._waiting is None and pipe is self._pipe
            if wanted:
                self._deliver(number, said)
        with self._lock:
            if pipe is not self._pipe:
                return
            # The process has died of itself, as for lack of memory.
            dead, self._process, self._pipe = self._doing, None, None
            self._send()
        if dead is not None:
            self._deliver(dead[0], FailedError("the process that computed this has died"))


def _received(pipe: Connection) -> Iterator[Any]:
    """Yield what comes through a pipe, until either end is closed."""
    with suppress(EOFError, OSError, TypeError):
        while True:
            yield pipe.recv()


def _serve(pipe: Connection, work: str) -> None:
    """Do tasks in the child, until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this
    threading.Thread(target=_end_with_server, daemon=True).start()
    with suppress(OSError):
        for task in _received(pipe):
            if task is not None:  # superseded after it had ended
                _do(pipe, work, *task)


class _SupersededError(Exception):
    """There is another task to do."""


def _do(pipe: Connection, work: str, number: int, task: Any) -> None:
    def say(said: Any) -> None:
        if said is not None:
            pipe.send((number, said))
        if pipe.poll():
            raise _SupersededError

    try:
        resolve_name(work)(task, say)
    except _SupersededError:
        pass
    except InvalidParametersError as error:
        pipe.send((number, error.faults))
    except Exception as error:
        kind = "" if isinstance(error, RefusalError) else f"{type(error).__name__}: "
        pipe.send((number, FailedError(f"{kind}{error}")))
    pipe.send((number, None))


def _end_with_server() -> None:
    """End this process when that of the server has ended, however that was."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
    os._exit(1)


def warm_up() -> None:
    """Start the process from which children are made, which takes a second to import the theory."""
    from multiprocessing import forkserver

    context()
    forkserver.ensure_running()
