"""Threads that compute results ahead of when they are needed.

Each uses one BLAS thread, on blocks that do not depend on the number of threads. So the results do
not depend on it either, to the last bit.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from threadpoolctl import threadpool_limits

T = TypeVar("T")
R = TypeVar("R")


class Workers:
    """Threads to compute with; one alone computes nothing while the caller does.

    Parameters
    ----------
    executor : Executor
    depth : int
        How many tasks may be unfinished, or their results unused.
    """

    def __init__(self, executor: Executor, depth: int) -> None:
        self._executor, self._depth = executor, depth

    def map_ahead(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield `function(item)` in order, while the next few are being computed."""
        waiting: deque[Future[R]] = deque()
        for item in items:
            # Where numpy's warnings are off for the caller, they are off for the thread.
            waiting.append(self._executor.submit(copy_context().run, function, item))
            if len(waiting) > self._depth:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@contextlib.contextmanager
def workers(count: int) -> Iterator[Workers]:
    """Start `count` threads that end with the block; BLAS uses one thread meanwhile."""
    with threadpool_limits(1), ThreadPoolExecutor(count) as executor:
        yield Workers(executor, count if count > 1 else 0)
