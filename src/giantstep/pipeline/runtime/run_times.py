"""What a run took: what each stage computed, and what the cores did besides.

Each job notes what it took in one line of a file; the run reads them at its end.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path

_FILE = "giantstep-times.jsonl"


class _Clock:
    """Core-seconds that this process has computed."""

    computed = 0.0


@contextlib.contextmanager
def computing() -> Iterator[None]:
    """Count what a block takes, of all threads, as time inside numerics."""
    start = time.process_time()
    try:
        yield
    finally:
        _Clock.computed += time.process_time() - start


@contextlib.contextmanager
def timed(stage: str, folder: Path) -> Iterator[None]:
    """Note what a job of a stage takes, in a run's records; without room, it is not noted."""
    start = time.monotonic()
    try:
        yield
    finally:
        line = json.dumps([stage, _Clock.computed, time.monotonic() - start])
        with contextlib.suppress(OSError), (folder / _FILE).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


def forget_times(folder: Path) -> None:
    """Forget the times of an earlier run."""
    (folder / _FILE).unlink(missing_ok=True)


def summary(folder: Path, seconds: float, cores: int | None) -> Iterator[str]:
    """Say in lines what a run took; nothing, if it started no job.

    Parameters
    ----------
    folder : Path
        Of the run's records.
    seconds : float
        That the run took.
    cores : int, optional
        That it had; None if its jobs ran elsewhere.
    """
    times: dict[str, list[tuple[float, float]]] = {}
    for stage, computed, job in _noted(folder):
        times.setdefault(stage, []).append((computed, job))
    if not times:
        return
    total = sum(computed for jobs in times.values() for computed, _ in jobs)
    yield f"The run took {seconds:,.0f} s{f' on {cores} cores' if cores else ''}. In its jobs,"
    yield f"{'':14}{'jobs':>6}{'computing':>12}{'files, drawing':>16}   (core-seconds)"
    for stage, jobs in sorted(times.items(), key=lambda item: -sum(map(max, item[1]))):
        computed, other = sum(x for x, _ in jobs), sum(max(job - x, 0.0) for x, job in jobs)
        yield f"{stage:14}{len(jobs):>6}{computed:>12,.1f}{other:>16,.1f}"
    if cores:
        overhead = 1 - total / (cores * seconds)
        yield (
            f"Overhead: {overhead:.1%} of {cores * seconds:,.0f} core-seconds were not spent on"
            " computing, but on starting jobs, on files and drawings, and on waiting."
        )


def _noted(folder: Path) -> Iterator[tuple[str, float, float]]:
    """Read what jobs have noted; a line that two of them wrote at once is left out."""
    with contextlib.suppress(OSError):
        for line in (folder / _FILE).read_text(encoding="utf-8").splitlines():
            with contextlib.suppress(ValueError):
                stage, computed, job = json.loads(line)
                yield str(stage), float(computed), float(job)
