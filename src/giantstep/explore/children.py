"""A child process that does tasks: the newest wins, and what is not wanted any more is killed."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pkgutil import resolve_name
from typing import Any

from giantstep.validation import RefusalError

# By which a task says what it finds, and ends if it is superseded.
Say = Callable[[Any], None]
Deliver = Callable[[int, Any], None]
# Seconds that a superseded task may be silent.
GRACE = 0.25


class Failure(str):
    """What a child says of a task that it could not do."""


# Children start with the theory already imported, and nothing else: the first picture waits for it.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["giantstep.explore.answers"])


def warm_up() -> None:
    """Start the process from which children are made, which takes a second to import the theory."""
    forkserver.ensure_running()


class Child:
    """Does tasks in a process of its own, one at a time; asked in an event loop.

    A task that is superseded ends at its next `beat`. If there is none for `GRACE` seconds, its
    process is killed, and another one started.

    Parameters
    ----------
    work : str
        The function `module:name` that the child calls with a task, and with what it calls to say
        something. Only the child imports its module.
    deliver : callable
        Called with the number of a task, and with each thing that it says, or its failure.
    """

    def __init__(self, work: str, deliver: Deliver) -> None:
        self._work, self._deliver = work, deliver
        # The newest task, and the one at work, if there is one; each with its number.
        self._newest: tuple[int, Any] = 0, None
        self._doing: tuple[int, Any] | None = None
        self._process: Any = None
        self._pipe: Any = None
        self._loop: asyncio.AbstractEventLoop  # in which the process was started

    def ask(self, number: int, task: Any) -> None:
        """Do a task instead of all earlier ones."""
        self._newest = number, task
        if self._doing is None:
            self._send()
        else:
            self._pipe.send(None)  # superseded
            self._loop.call_later(GRACE, self._replace, self._doing)

    def cancel(self) -> None:
        """End the process, whatever it does."""
        self._doing = None
        if self._process is not None:
            self._loop.remove_reader(self._pipe.fileno())
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None

    def _send(self) -> None:
        """Send the newest task to the process, started if need be."""
        if self._process is None:
            self._pipe, theirs = multiprocessing.Pipe()
            arguments = theirs, self._work
            self._process = _CONTEXT.Process(target=_serve, args=arguments, daemon=True)
            self._process.start()
            theirs.close()
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self._pipe.fileno(), self._receive)
        self._doing = self._newest
        self._pipe.send(self._doing[1])

    def _replace(self, late: tuple[int, Any]) -> None:
        """Do the newest task in another process, if a late one is still at work."""
        if self._doing is late:
            self.cancel()
            self._send()

    def _receive(self) -> None:
        """Deliver what the child says, unless its task is superseded."""
        wanted = self._doing is self._newest
        try:
            result = self._pipe.recv()
        except (EOFError, OSError):  # it has died of itself, as for lack of memory
            self.cancel()
            wanted, result = True, Failure("the process that computed this has died")
        if result is None:  # the task has ended
            self._doing = None
            if not wanted:
                self._send()
        elif wanted:
            self._deliver(self._newest[0], result)


# Of a child: the pipe through which its tasks come.
_PIPE = ContextVar[Connection | None]("pipe", default=None)


def beat() -> None:
    """End the task that this process does, if it is superseded; called from time to time."""
    if (pipe := _PIPE.get()) and pipe.poll():
        raise _SupersededError


class _SupersededError(Exception):
    """There is another task to do."""


def _serve(pipe: Connection, work: str) -> None:
    """Do tasks in the child, until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this
    _PIPE.set(pipe)
    with suppress(EOFError, OSError):
        while True:
            if (task := pipe.recv()) is not None:  # it was superseded after it had ended
                _do(pipe, work, task)


def _do(pipe: Connection, work: str, task: Any) -> None:
    def say(result: Any) -> None:
        pipe.send(result)
        beat()

    try:
        resolve_name(work)(task, say)
    except _SupersededError:
        pass
    except Exception as error:
        kind = "" if isinstance(error, RefusalError) else f"{type(error).__name__}: "
        pipe.send(Failure(f"{kind}{error}".replace("\n", "; ")))
    pipe.send(None)
