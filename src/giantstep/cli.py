"""The command line: quick questions to theory and simulation, without the workflow."""

from __future__ import annotations

import argparse
import csv
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, TextIO

import numpy as np
import xarray as xr
from threadpoolctl import threadpool_limits

from giantstep import __version__, stages
from giantstep.activations import known_names
from giantstep.faults import COUNT, Fault, Interval, InvalidParametersError
from giantstep.learning import Status
from giantstep.montecarlo import Sizes
from giantstep.protocol import Grid, Problem, Protocol, SpikedFeatures

THEORY_COLUMNS = (
    "test_error", "training_error", "m", "zeta", "psi", "q1", "q2", "V1", "V2", "status",
)  # fmt: skip
SIMULATION_COLUMNS = (
    "test_error", "test_error_stderr", "training_error", "training_error_stderr",
)  # fmt: skip

_STEP = ("learning_rate", "alpha0")
_SPIKED = ("bulk_variance", "spike_strength", "alignment")


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one message, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message}\nSee {self.prog} --help\n")


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _add_problem(parser: argparse.ArgumentParser) -> None:
    functions = f"one of {known_names()}"
    problem = parser.add_argument_group("the problem")
    problem.add_argument("--activation", required=True, metavar="NAME", help=functions)
    problem.add_argument("--target", required=True, metavar="NAME", help=functions)
    problem.add_argument("--beta", required=True, type=float, help="width over dimension, > 0")
    problem.add_argument(
        "--noise", type=float, default=0.0, help="variance of the label noise (default 0)"
    )
    step = parser.add_argument_group("one gradient step on the first layer")
    step.add_argument("--learning-rate", type=float, help="eta tilde >= 0")
    step.add_argument("--alpha0", type=float, help="first batch over dimension, 0 ... inf")
    spiked = parser.add_argument_group("or spiked random features given directly")
    spiked.add_argument("--bulk-variance", type=float, metavar="C", help="c > 0")
    spiked.add_argument("--spike-strength", type=float, metavar="R", help="r >= 0")
    spiked.add_argument("--alignment", type=float, metavar="G", help="gamma in [-1, 1]")
    grid = parser.add_argument_group("the grid")
    grid.add_argument(
        "--alpha", required=True, type=float, nargs="+", help="samples over dimension, > 0"
    )
    grid.add_argument("--ridge", required=True, type=float, nargs="+", help="ridge penalties, >= 0")
    parser.add_argument(
        "--format", choices=("csv", "table"), default="csv", help="of the output (default csv)"
    )


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="giantstep",
        description="Two-layer networks after one gradient step: theory and simulation.",
    )
    parser.add_argument("--version", action="version", version=f"giantstep {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    theory = commands.add_parser(
        "theory", help="asymptotic errors and overlaps", description="Asymptotic theory on a grid."
    )
    _add_problem(theory)
    simulate = commands.add_parser(
        "simulate",
        help="errors of actual networks",
        description="Train networks of finite size: means and standard errors over replicates.",
    )
    _add_problem(simulate)
    sizes = simulate.add_argument_group("sizes")
    sizes.add_argument("--dimension", type=int, default=500, help="d (default 500)")
    sizes.add_argument("--replicates", type=int, default=8, help="networks (default 8)")
    sizes.add_argument(
        "--trainings", type=int, default=1, help="training sets a network (default 1)"
    )
    sizes.add_argument(
        "--test-samples", type=int, default=10_000, help="test inputs a network (default 10000)"
    )
    sizes.add_argument("--seed", type=int, default=0, help="root of the streams (default 0)")
    return parser


def _problem(arguments: argparse.Namespace) -> Problem:
    """Make the problem object from whichever of the two sets of flags was given."""
    given = {name for name in (*_STEP, *_SPIKED) if getattr(arguments, name) is not None}
    for kind, names in ((Protocol, _STEP), (SpikedFeatures, _SPIKED)):
        if given == set(names):
            fields = ("activation", "target", "beta", "noise", *names)
            problem: Problem = kind(**{name: getattr(arguments, name) for name in fields})
            return problem
    choices = " or all of ".join(" ".join(map(_flag, names)) for names in (_STEP, _SPIKED))
    got = " ".join(map(_flag, sorted(given))) or "none of them"
    raise argparse.ArgumentError(None, f"give all of {choices}; got {got}")


def _checked(arguments: argparse.Namespace) -> tuple[Problem, Grid]:
    """Make problem and grid, with the faults of both in one error."""
    faults: list[Fault] = []
    made: list[Any] = []
    for make in (
        lambda: _problem(arguments),
        lambda: Grid(tuple(arguments.alpha), tuple(arguments.ridge)),
    ):
        try:
            made.append(make())
        except InvalidParametersError as error:
            faults += error.faults
    if faults:
        raise InvalidParametersError(faults)
    return made[0], made[1]


def _theory(arguments: argparse.Namespace) -> xr.Dataset:
    return stages.theory(*_checked(arguments))[list(THEORY_COLUMNS)]


def _simulate(arguments: argparse.Namespace) -> xr.Dataset:
    problem, grid = _checked(arguments)
    sizes = Sizes(arguments.dimension, arguments.trainings, arguments.test_samples)
    counts = {"replicates": arguments.replicates, "seed": arguments.seed}
    whole = Interval(0, whole=True)
    faults = [
        Fault(name, counts[name], str(interval))
        for name, interval in (("replicates", COUNT), ("seed", whole))
        if counts[name] not in interval
    ]
    if faults:
        raise InvalidParametersError(faults)

    def report(network: int) -> None:
        print(f"network {network + 1} of {arguments.replicates}", file=sys.stderr)

    networks = range(arguments.replicates)
    with threadpool_limits(1):  # the same digits on any number of cores
        raw = stages.simulation(problem, grid, sizes, networks, arguments.seed, report)
    summary = stages.summary(raw).rename(alpha_simulated="alpha")
    summary = summary.assign_coords(alpha=list(grid.alpha), ridge=list(grid.ridge))
    columns = {}
    for name in stages.ERRORS:
        columns[name] = summary[f"simulated_{name}_mean"]
        columns[f"{name}_stderr"] = summary[f"simulated_{name}_stderr"]
    return xr.Dataset(columns)[list(SIMULATION_COLUMNS)]


def _rows(data: xr.Dataset) -> Iterator[list[str]]:
    """Give a header, then one row per (alpha, ridge)."""
    yield ["alpha", "ridge", *map(str, data.data_vars)]
    for i, alpha in enumerate(data["alpha"].values):
        for j, ridge in enumerate(data["ridge"].values):
            row = [f"{alpha:.12g}", f"{ridge:.12g}"]
            for name in data.data_vars:
                value = data[name].values[i, j]
                row.append(Status(value).label if name == "status" else f"{value:.12g}")
            yield row


def _print(data: xr.Dataset, form: str, out: TextIO) -> None:
    rows = list(_rows(data))
    if form == "csv":
        csv.writer(out, lineterminator="\n").writerows(rows)
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(x.rjust(w) for x, w in zip(row, widths, strict=True)), file=out)


def _advise(data: xr.Dataset) -> None:
    """Say on standard error what to do about points that failed."""
    for status in Status:
        count = int(np.sum(data["status"].values == status)) if "status" in data else 0
        if status is not Status.CONVERGED and count:
            print(f"{count} point(s) {status.label}: {status.advice}", file=sys.stderr)


def _readable(argument: str) -> str:
    """Keep argparse from taking a negative number such as -1e-3 for a flag: it spares blanks."""
    try:
        return f" {argument}" if float(argument) < 0 else argument
    except ValueError:
        return argument


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    given = sys.argv[1:] if argv is None else argv
    arguments = _parser().parse_args([_readable(argument) for argument in given])
    run = {"theory": _theory, "simulate": _simulate}[arguments.command]
    try:
        data = run(arguments)
    except InvalidParametersError as error:
        lines = "; ".join(
            f"{_flag(fault.name)} {fault.value}: must be {fault.allowed}" for fault in error.faults
        )
        print(f"giantstep {arguments.command}: error: {lines}", file=sys.stderr)
        return 2
    except (argparse.ArgumentError, ValueError) as error:
        print(f"giantstep {arguments.command}: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    try:
        _print(data, arguments.format, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader had enough, as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    _advise(data)
    return 0
