"""Questions whose answer would take too long, or too much memory, are refused at once."""

from __future__ import annotations

import argparse
import os
import sys

from giantstep.pipeline.planning.simulation_work import MIB, network_memory, network_work
from giantstep.problems.grid import Grid
from giantstep.problems.problem import Problem
from giantstep.problems.sizes import Sizes
from giantstep.validation import Interval

LIMIT = Interval(0, infinity=True)
# Core-hours that an answer may take unless --max-hours says otherwise.
THEORY_HOURS, SIMULATION_HOURS = 0.05, 1.0
# What takes more seconds says so before it starts.
_LONG = 60.0


def check_hours(arguments: argparse.Namespace, seconds: float) -> None:
    """Refuse what takes more core-seconds than is allowed.

    Raises
    ------
    argparse.ArgumentError
    """
    hours = seconds / 3600
    if hours > arguments.max_hours:
        raise argparse.ArgumentError(
            None,
            f"this takes about {hours:,.3g} core-hours, more than {arguments.max_hours:g}: it must"
            " be smaller, or --max-hours larger",
        )
    if seconds > _LONG:
        print(f"this takes about {seconds / 60:.2g} minutes of one core", file=sys.stderr)


def check_memory(arguments: argparse.Namespace, problem: Problem, grid: Grid, sizes: Sizes) -> None:
    """Refuse networks that are too large.

    Raises
    ------
    argparse.ArgumentError
    """
    needed = network_memory(problem, grid, sizes, arguments.threads) * MIB / 2**30
    own = arguments.max_memory is None
    limit = _memory() / 2**30 if own else arguments.max_memory
    if needed > limit:
        whose = "this machine has" if own else "--max-memory is"
        raise argparse.ArgumentError(
            None,
            f"this needs about {needed:,.3g} GiB of memory, and {whose} {limit:,.3g}: it must be"
            " smaller, or --max-memory larger",
        )


def _memory() -> int:
    """Return the bytes of memory that this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def simulation_seconds(
    arguments: argparse.Namespace, problem: Problem, grid: Grid, sizes: Sizes
) -> float:
    """Estimate the core-seconds of all networks."""
    replicates: int = arguments.replicates
    return replicates * network_work(problem, grid, sizes).seconds
