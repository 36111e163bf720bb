"""Questions whose answer would take too long, or too much memory, are refused at once."""

from __future__ import annotations

import argparse
import os
import sys

from giantstep.pipeline.planning.simulation_work import (
    MIB,
    group_count,
    network_memory,
    network_work,
)
from giantstep.pipeline.planning.theory_work import search_points, steps_seconds, theory_seconds
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem
from giantstep.problems.sizes import Sizes
from giantstep.validation import Interval

LIMIT = Interval(0, infinity=True)
# Core-hours that an answer may take unless --max-hours says otherwise.
THEORY_HOURS, SIMULATION_HOURS = 0.05, 1.0
# Seconds to prepare a problem for the square loss, and of each of its points: with the isotropic
# bulk, and with a trained one. A search for the best ridge takes as long as so many points.
_ISOTROPIC_SECONDS, _TRAINED_SECONDS, _SEARCH = (6e-3, 3e-5), (4e-2, 2.5e-4), 1000
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


def solving_seconds(problem: Problem, grid: Grid, bulk: str, optimal: bool) -> float:
    """Estimate the core-seconds of the theory of a problem at the points of a grid.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    grid : Grid
    bulk : str
    optimal : bool
        Whether the ridge is the best of each sample complexity, instead of those of the grid.
    """
    if grid.loss != SQUARE:
        points = len(grid.alpha) * (search_points(grid.loss) if optimal else len(grid.ridge))
        return theory_seconds(problem, points, grid.loss, bulk)
    points = len(grid.alpha) * (_SEARCH if optimal else len(grid.ridge))
    prepared, point = _ISOTROPIC_SECONDS if bulk == ISOTROPIC else _TRAINED_SECONDS
    return steps_seconds(problem, bulk) + prepared + points * group_count(problem) ** 2 * point


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
    networks: int = arguments.networks
    return networks * network_work(problem, grid, sizes).seconds
