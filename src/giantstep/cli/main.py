"""The command `giantstep`: quick questions to theory and simulation, and a project's results.

Start with `main`. The flags are in `arguments` and `flags`, the answers in `queries`, the printing
in `tables`, and the commands on a project's results in `project_commands`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from giantstep.cli import queries
from giantstep.cli.arguments import (
    OPTIMAL,
    OPTIMISE,
    POINTS,
    alpha_of,
    grid_of,
    parse,
    problem_of,
    sizes_of,
)
from giantstep.cli.flags import spelled
from giantstep.cli.limits import (
    LIMIT,
    check_bounds,
    check_simulation,
    check_spectrum,
    check_theory,
)
from giantstep.cli.queries import Answer
from giantstep.cli.tables import print_progress, print_table
from giantstep.extras import EXTRAS, advice
from giantstep.pipeline.planning.theory_work import optimum_points, search_points
from giantstep.problems.domains import COUNTED, THEORY_DIMENSION
from giantstep.problems.problem import check_loss
from giantstep.problems.sizes import SEED, check_sizes
from giantstep.validation import (
    POSITIVE,
    Fault,
    Interval,
    InvalidParametersError,
    interval_faults,
)

# More find nothing to do.
THREADS = Interval(1, 1024, whole=True)
# The exit code of what ends because its reader has closed the pipe, as `head` does: 128 + SIGPIPE.
UNREAD = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns
    -------
    int
        The exit code: 0, 1 if `verify` finds a difference, 2 for an error, 130 if interrupted,
        141 if what reads the output closes it.
    """
    arguments = parse(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more as it ends, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD
    return code


def _run(arguments: argparse.Namespace) -> int:
    """Run the command, and return the exit code."""
    if arguments.command not in _QUESTIONS:
        try:
            from giantstep.cli.project_commands import run  # only here: it takes a while to import

            return run(arguments)
        except ModuleNotFoundError as error:
            return _fail(arguments, _advice(error))
    try:
        answer = _QUESTIONS[arguments.command](arguments)
    except InvalidParametersError as error:
        lines = (
            f"{spelled(fault.name)} {fault.value}: must be {fault.allowed}"
            for fault in error.faults
        )
        return _fail(arguments, "; ".join(lines))
    except argparse.ArgumentError as error:
        return _fail(arguments, str(error))
    except ModuleNotFoundError as error:
        return _fail(arguments, _advice(error))
    except MemoryError:
        return _fail(arguments, "not enough memory: use a smaller dimension, or fewer points")
    except KeyboardInterrupt:
        return 130
    for remark in answer.remarks:
        print(remark, file=sys.stderr)
    print_table(answer.table, arguments.format)
    return 0


def _advice(error: ModuleNotFoundError) -> str:
    """Say which extra of the package installs a library that is missing.

    Raises
    ------
    ModuleNotFoundError
        If no extra does.
    """
    library = (error.name or "").partition(".")[0]
    if library not in EXTRAS:
        raise error
    return advice(library)


def _fail(arguments: argparse.Namespace, message: str) -> int:
    print(f"giantstep {arguments.command}: error: {message}", file=sys.stderr)
    return 2


def _theory(arguments: argparse.Namespace) -> Answer:
    options = arguments.bulk, arguments.certificate, arguments.dimension
    intervals = {"max_hours": LIMIT, "dimension": THEORY_DIMENSION}
    if _numbers_or_optimal(arguments):
        problem, grid = _make(arguments, problem_of, grid_of, **intervals)
        check_loss(problem, grid.loss)
        check_theory(arguments, problem, len(grid.alpha) * len(grid.ridge))
        return queries.theory(problem, grid, *options)
    problem, alpha = _make(arguments, problem_of, alpha_of, **intervals)
    check_loss(problem, arguments.loss)
    check_theory(arguments, problem, search_points(arguments.loss) * len(alpha))
    return queries.theory_at_optimal_ridge(problem, np.array(alpha), *options, arguments.loss)


def _optimise(arguments: argparse.Namespace) -> Answer:
    ridges = _numbers_or_optimal(arguments)
    intervals = {"max_hours": LIMIT, "dimension": THEORY_DIMENSION}
    grid = grid_of if ridges else alpha_of
    protocol, checked = _make(arguments, problem_of, grid, **intervals)
    alpha = checked.alpha if ridges else checked
    check_loss(protocol, arguments.loss)
    optima = len(alpha) * (len(ridges) or 1)
    points = optima * optimum_points(arguments.loss, best_ridge=not ridges)
    check_theory(arguments, protocol, points)
    options = arguments.bulk, arguments.dimension, arguments.loss
    return queries.optimal_learning_rates(protocol, alpha, ridges or (None,), *options)


def _numbers_or_optimal(arguments: argparse.Namespace) -> list[float]:
    """Return the ridges, none if they are to be optimised."""
    if OPTIMAL in arguments.ridge and arguments.ridge != [OPTIMAL]:
        raise argparse.ArgumentError(None, f"--ridge {OPTIMAL} stands alone, without numbers")
    return [] if arguments.ridge == [OPTIMAL] else arguments.ridge


def _simulate(arguments: argparse.Namespace) -> Answer:
    intervals = {"replicates": COUNTED, "seed": SEED, "threads": THREADS, "max_hours": LIMIT}
    if arguments.max_memory is not None:
        intervals["max_memory"] = LIMIT
    problem, grid, sizes = _make(arguments, problem_of, grid_of, sizes_of, **intervals)
    check_sizes(problem, grid, sizes)
    check_simulation(arguments, problem, grid, sizes)
    return queries.simulation(
        problem,
        grid,
        sizes,
        arguments.replicates,
        arguments.seed,
        arguments.threads,
        print_progress(),
    )


def _spectrum(arguments: argparse.Namespace) -> Answer:
    intervals = {"points": POINTS, "max_hours": LIMIT, "dimension": THEORY_DIMENSION}
    problem, alpha = _make(arguments, problem_of, alpha_of, **intervals)
    if faults := [Fault("x", x, str(POSITIVE)) for x in arguments.x or () if x not in POSITIVE]:
        raise InvalidParametersError(faults)
    x = None if arguments.x is None else np.array(arguments.x)
    check_spectrum(arguments, problem, arguments.points if x is None else x.size)
    options = arguments.bulk, arguments.dimension
    return queries.eigenvalue_density(problem, alpha[0], arguments.points, x, *options)


def _bounds(arguments: argparse.Namespace) -> Answer:
    (problem,) = _make(arguments, problem_of, max_hours=LIMIT)
    check_bounds(arguments, problem)
    return queries.error_bounds(problem)


_QUESTIONS = {
    "theory": _theory,
    "simulate": _simulate,
    "spectrum": _spectrum,
    "bounds": _bounds,
    OPTIMISE: _optimise,
}


def _make(
    arguments: argparse.Namespace,
    *makers: Callable[[argparse.Namespace], Any],
    **intervals: Interval,
) -> list[Any]:
    """Make several things of the arguments, and check others against intervals.

    Raises
    ------
    InvalidParametersError
        With the faults of all.
    """
    made: list[Any] = []
    faults: list[Fault] = []
    for maker in makers:
        try:
            made.append(maker(arguments))
        except InvalidParametersError as error:
            faults += error.faults
    faults += interval_faults(vars(arguments), intervals)
    if faults:
        raise InvalidParametersError(faults)
    return made
