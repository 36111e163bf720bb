"""Threads that compute ahead while results are taken in order.

Each computes with one BLAS thread on blocks that do not depend on how many threads there are, so
that neither do the digits.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

T = TypeVar("T")
R = TypeVar("R")


class _Inline(Executor):
    """Computes at once, in the calling thread."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*args, **kwargs))
        return future


class Workers:
    """A number of threads; one of them is the caller's own, which then does everything.

    Parameters
    ----------
    executor : Executor
    depth : int
        How many results may wait to be taken.
    """

    def __init__(self, executor: Executor, depth: int) -> None:
        self._executor, self._depth = executor, depth
        self._tasks: deque[Future[Any]] = deque()

    def ahead(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Give `function(item)` in order, computing the next few meanwhile."""
        waiting: deque[Future[R]] = deque()
        for item in items:
            waiting.append(self._executor.submit(function, item))
            if len(waiting) > self._depth:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def later(self, function: Callable[[], R]) -> Future[R]:
        """Compute beside what goes on; waits while too many such tasks are unfinished."""
        future = self._executor.submit(function)
        self._tasks.append(future)
        while len(self._tasks) > self._depth:
            self._tasks.popleft().result()
        return future


@contextlib.contextmanager
def workers(count: int) -> Iterator[Workers]:
    """Start `count` threads, and let none outlive the block; BLAS takes one thread meanwhile."""
    executor = ThreadPoolExecutor(count) if count > 1 else _Inline()
    with threadpool_limits(1):
        try:
            yield Workers(executor, count if count > 1 else 0)
        finally:
            executor.shutdown(cancel_futures=True)
