"""The command line: quick questions to theory and simulation, without the workflow."""

from __future__ import annotations

import argparse
import csv
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, TextIO

import numpy as np
from numpy.typing import NDArray

from giantstep import __version__
from giantstep.numerics.scalar_functions import SIGN, known_names
from giantstep.problems.bulk_kind import BULKS, ISOTROPIC, TRAINED_NORMS
from giantstep.problems.grid import Grid
from giantstep.problems.inputs import GAUSSIAN, known_inputs
from giantstep.problems.losses import SQUARE, known_losses
from giantstep.problems.problem import Problem, check_loss
from giantstep.problems.protocol import STEP_FIELDS, Protocol
from giantstep.problems.readout import UNBIASED, UNIFORM
from giantstep.problems.sizes import DIMENSION, EXACT, SEED, Sizes
from giantstep.problems.spiked_features import MODELS, NETWORK, SPIKED_FIELDS, one_spike
from giantstep.simulation.replicate_statistics import summarise
from giantstep.simulation.simulate import simulate
from giantstep.theory.bounds import (
    best_linear_error,
    best_over_learning_rate,
    bounds,
    lower_bound_with_bias,
)
from giantstep.theory.classification_error import ReadoutOverlaps, classification_error
from giantstep.theory.equivalent_features import equivalent_features
from giantstep.theory.optima import optimal_ridge
from giantstep.theory.solve import Solution, Solver, Status
from giantstep.theory.spectrum import spectrum
from giantstep.validation import (
    COUNT,
    POSITIVE,
    Fault,
    Interval,
    InvalidParametersError,
    interval_faults,
)

Table = dict[str, NDArray[Any]]

OPTIMAL = "optimal"
OVERLAPS = ("m", "zeta", "psi", "q1", "q2", "V1", "V2")
CERTIFICATE = ("residual", "quadrature_error", "iterations")


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one message, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message}\nSee {self.prog} --help\n")


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _vocabulary(text: str) -> tuple[float, float]:
    """Read one `value:fraction` of a readout."""
    text = text.strip()
    value, colon, fraction = text.partition(":")
    if not colon:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form value:fraction")
    try:
        return float(value), float(fraction)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form value:fraction") from None


def _ridge(text: str) -> float | str:
    return text if text == OPTIMAL else float(text)


def _test_samples(text: str) -> int | str:
    return text if text == EXACT else int(text)


def _add_problem(parser: argparse.ArgumentParser) -> None:
    functions = f"one of {known_names()}"
    problem = parser.add_argument_group("the problem")
    problem.add_argument("--activation", required=True, metavar="NAME", help=functions)
    problem.add_argument("--target", required=True, metavar="NAME", help=functions)
    problem.add_argument("--beta", required=True, type=float, help="width over dimension, > 0")
    problem.add_argument(
        "--noise", type=float, default=0.0, help="variance of the label noise (default 0)"
    )
    problem.add_argument(
        "--outlier-fraction",
        type=float,
        default=0.0,
        help="share of the labels with another noise (default 0)",
    )
    problem.add_argument(
        "--outlier-variance", type=float, default=0.0, help="variance of that noise (default 0)"
    )
    problem.add_argument(
        "--inputs",
        default=GAUSSIAN,
        metavar="NAME",
        help=f"of simulations: one of {known_inputs()} (default {GAUSSIAN})",
    )
    problem.add_argument(
        "--readout",
        type=_vocabulary,
        nargs="+",
        default=UNIFORM,
        metavar="VALUE:FRACTION",
        help="values of sqrt(p) a0 and their shares of the neurons (default 1:1)",
    )
    step = parser.add_argument_group("one gradient step on the first layer")
    step.add_argument("--learning-rate", type=float, help="eta tilde >= 0")
    step.add_argument("--alpha0", type=float, help="first batch over dimension, 0 ... inf")
    step.add_argument(
        "--steps", type=int, default=1, help="of simulations: gradient steps (default 1)"
    )
    step.add_argument(
        "--reuse-batch", action="store_true", help="take all steps on the batch of the first"
    )
    spiked = parser.add_argument_group("or spiked random features given directly")
    spiked.add_argument("--bulk-variance", type=float, metavar="C", help="c > 0")
    spiked.add_argument("--spike-strength", type=float, metavar="R", help="r")
    spiked.add_argument("--alignment", type=float, metavar="G", help="gamma in [-1, 1]")
    spiked.add_argument(
        "--bias",
        type=_vocabulary,
        nargs="+",
        default=UNBIASED,
        metavar="VALUE:FRACTION",
        help="quenched biases and their shares of the neurons (default 0:1)",
    )
    spiked.add_argument(
        "--model", choices=MODELS, default=NETWORK, help="features that simulations take"
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format", choices=("csv", "table"), default="csv", help="of the output (default csv)"
    )


def _add_grid(parser: argparse.ArgumentParser, optimal: bool) -> None:
    grid = parser.add_argument_group("the grid")
    grid.add_argument(
        "--alpha", required=True, type=float, nargs="+", help="samples over dimension, > 0"
    )
    text = "ridge penalties, >= 0"
    grid.add_argument(
        "--ridge",
        required=True,
        type=_ridge if optimal else float,
        nargs="+",
        help=text + f", or {OPTIMAL!r} for the best at each alpha" if optimal else text,
    )
    grid.add_argument(
        "--loss",
        default=SQUARE,
        metavar="NAME",
        help=f"what the readout minimises: one of {known_losses()} (default {SQUARE})",
    )


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="giantstep",
        description="Two-layer networks after one gradient step: theory and simulation.",
    )
    parser.add_argument("--version", action="version", version=f"giantstep {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        _add_problem(added)
        _add_output(added)
        return added

    theory = command("theory", "asymptotic errors and overlaps on a grid")
    _add_grid(theory, optimal=True)
    theory.add_argument(
        "--bulk",
        choices=BULKS,
        default=ISOTROPIC,
        help="of the first layer: the paper's, or as the first batch leaves it (default isotropic)",
    )
    theory.add_argument(
        "--certificate", action="store_true", help="print also how far each point can be trusted"
    )
    simulate = command("simulate", "errors of trained networks: means and standard errors")
    _add_grid(simulate, optimal=False)
    _add_sizes(simulate)
    spectrum = command("spectrum", "density of the eigenvalues of Phi^T Phi")
    spectrum.add_argument("--alpha", required=True, type=float, help="samples over dimension, > 0")
    spectrum.add_argument("--points", type=int, default=200, help="of the density (default 200)")
    spectrum.add_argument(
        "--x", type=float, nargs="+", help="eigenvalues > 0 to take the density at, instead"
    )
    opened = commands.add_parser(
        "open", help="the data of a figure", description="Show what the data of a figure hold."
    )
    opened.add_argument("figure", help="such as fig2")
    opened.add_argument(
        "--project", default=".", help="the folder in which the workflow was run (default here)"
    )
    command("bounds", "bounds on the error optimised over the ridge, for an aligned spike")
    _add_maintenance(commands)
    return parser


def _add_maintenance(commands: Any) -> None:
    """Add the commands on a project's results."""
    explain = commands.add_parser(
        "explain",
        help="what the workflow would run, and why",
        description="Show what the workflow would run, why, and what that costs.",
    )
    explain.add_argument("figure", nargs="*", help="such as fig2 (default all)")
    verify = commands.add_parser(
        "verify",
        help="compute a random part of a figure's data again, and compare",
        description="Compute a random part of a figure's data again, and compare bit for bit.",
    )
    verify.add_argument("figure", help="such as fig2")
    verify.add_argument(
        "--sample",
        default="5%",
        metavar="SIZE",
        help="share (5%%) or number (3) of theory points and of networks (default 5%%)",
    )
    verify.add_argument("--seed", type=int, help="of the drawing of the sample (default random)")
    prune = commands.add_parser(
        "prune",
        help="list results that no config refers to, and remove them",
        description="List results that no config refers to, ask, and remove them.",
    )
    prune.add_argument("--yes", action="store_true", help="remove them without asking")
    for command in (explain, verify, prune):
        command.add_argument(
            "--project", default=".", help="the folder of the project (default here)"
        )
        command.add_argument(
            "--configfile",
            type=Path,
            nargs="+",
            default=[],
            metavar="OVERLAY",
            help="overlays of config/config.yaml, as for snakemake; for prune, those that refer to"
            " further results",
        )


def _add_sizes(parser: argparse.ArgumentParser) -> None:
    sizes = parser.add_argument_group("sizes")
    sizes.add_argument("--dimension", type=int, default=500, help="d (default 500)")
    sizes.add_argument("--replicates", type=int, default=8, help="networks (default 8)")
    sizes.add_argument(
        "--trainings", type=int, default=1, help="training sets a network (default 1)"
    )
    sizes.add_argument(
        "--test-samples",
        type=_test_samples,
        default=10_000,
        metavar="N",
        help=f"test inputs a network (default 10000), or {EXACT!r}: averages in closed form",
    )
    sizes.add_argument("--threads", type=int, default=1, help="which change no digit (default 1)")
    sizes.add_argument("--seed", type=int, default=0, help="root of the streams (default 0)")


def _problem(arguments: argparse.Namespace) -> Problem:
    """Make the problem object from whichever of the two sets of flags was given."""
    given = {
        name for name in (*STEP_FIELDS, *SPIKED_FIELDS) if getattr(arguments, name) is not None
    }
    names = (
        "activation", "target", "beta", "noise", "outlier_fraction", "outlier_variance", "inputs"
    )  # fmt: skip
    common = {name: getattr(arguments, name) for name in names}
    readout = tuple(arguments.readout)
    if given == set(STEP_FIELDS) and arguments.model != NETWORK:
        raise argparse.ArgumentError(None, "--model is for spiked random features given directly")
    if given == set(STEP_FIELDS) and arguments.bias != UNBIASED:
        raise argparse.ArgumentError(None, "--bias is for spiked random features given directly")
    if given == set(SPIKED_FIELDS) and (arguments.steps != 1 or arguments.reuse_batch):
        raise argparse.ArgumentError(None, "--steps and --reuse-batch are for gradient steps")
    if given == set(STEP_FIELDS):
        step = {name: getattr(arguments, name) for name in STEP_FIELDS}
        further = {"steps": arguments.steps, "reuse_batch": arguments.reuse_batch}
        return Protocol(**common, **step, **further, readout=readout)
    if given == set(SPIKED_FIELDS):
        spiked = {name: getattr(arguments, name) for name in SPIKED_FIELDS}
        further = {"model": arguments.model, "bias": tuple(arguments.bias)}
        return one_spike(**common, **spiked, **further, readout=readout)
    choices = " or all of ".join(
        " ".join(map(_flag, names)) for names in (STEP_FIELDS, SPIKED_FIELDS)
    )
    got = " ".join(map(_flag, sorted(given))) or "none of them"
    raise argparse.ArgumentError(None, f"give all of {choices}; got {got}")


def _checked(
    arguments: argparse.Namespace,
    alpha: Sequence[float],
    ridge: Sequence[float],
    loss: str = SQUARE,
    **others: Interval,
) -> tuple[Problem, Grid]:
    """Make problem and grid, with the faults of both, and of other flags, in one error."""
    faults: list[Fault] = []
    made: list[Any] = []
    for make in (lambda: _problem(arguments), lambda: Grid(tuple(alpha), tuple(ridge), loss)):
        try:
            made.append(make())
        except InvalidParametersError as error:
            faults += error.faults
    faults += interval_faults(vars(arguments), others)
    if faults:
        raise InvalidParametersError(faults)
    check_loss(made[0], loss)
    return made[0], made[1]


def _theory(arguments: argparse.Namespace) -> Table:
    optimal = arguments.ridge == [OPTIMAL]
    if OPTIMAL in arguments.ridge and not optimal:
        raise argparse.ArgumentError(None, f"--ridge {OPTIMAL} stands alone, without numbers")
    if optimal and arguments.loss != SQUARE:
        raise argparse.ArgumentError(None, f"--ridge {OPTIMAL} needs --loss {SQUARE}")
    ridges = [1.0] if optimal else arguments.ridge
    problem, grid = _checked(arguments, arguments.alpha, ridges, arguments.loss)
    if optimal:
        alpha = np.asarray(grid.alpha)
        ridge, solution = optimal_ridge(problem, alpha, arguments.bulk)
    else:
        alpha, ridge = np.meshgrid(np.asarray(grid.alpha), np.asarray(grid.ridge), indexing="ij")
        solution = Solver(problem, arguments.bulk, arguments.loss).solve(alpha, ridge)
    _advise(solution)
    table: Table = {"alpha": alpha.ravel(), "ridge": ridge.ravel()}
    names = ["test_error", "training_error", *OVERLAPS]
    if arguments.loss != SQUARE:
        names[2:2] = ["test_loss", "training_loss"]
    if arguments.bulk == TRAINED_NORMS:
        names.append("xi")
    for name in (*names, *(CERTIFICATE if arguments.certificate else ())):
        table |= _columns(name, getattr(solution, name), alpha.ndim)
    if problem.target == SIGN:
        overlaps = {name: getattr(solution, name) for name in ReadoutOverlaps._fields}
        wrong = classification_error(equivalent_features(problem), ReadoutOverlaps(**overlaps))
        table["classification_error"] = wrong.ravel()
    table["status"] = np.array([Status(int(code)).label for code in solution.status.ravel()])
    return table


def _columns(name: str, values: NDArray[Any], grid_dimensions: int) -> Table:
    """Give one column, or one for each group of neurons, or pair of groups, counted from 1."""
    groups = values.shape[grid_dimensions:]
    if all(size == 1 for size in groups):
        return {name: values.ravel()}
    flat = values.reshape(-1, *groups)
    return {
        name + "".join(f"_{i + 1}" for i in index): flat[:, *index]
        for index in np.ndindex(groups)
        if list(index) == sorted(index)
    }


def _spectrum(arguments: argparse.Namespace) -> Table:
    points = Interval(8, 100_000, whole=True)
    problem, _ = _checked(arguments, [arguments.alpha], [1.0], points=points)
    if faults := [Fault("x", x, str(POSITIVE)) for x in arguments.x or () if x not in POSITIVE]:
        raise InvalidParametersError(faults)
    x = None if arguments.x is None else np.array(arguments.x)
    found = spectrum(problem, arguments.alpha, arguments.points, x)
    edges = ", ".join(f"[{low:.6g}, {high:.6g}]" for low, high in found.edges)
    large = ", ".join(f"{value:.6g} d" for value in found.outliers) or "none"
    for line in (
        f"share of eigenvalues at zero: {found.mass_at_zero:.6g}",
        f"bulk: {edges}",
        f"eigenvalues of order d: {large}",
    ):
        print(line, file=sys.stderr)
    return {"x": found.x, "density": found.density}


def _bounds(arguments: argparse.Namespace) -> Table:
    problem = _problem(arguments)
    found = bounds(problem)
    table = {
        "upper": found.upper,
        "lower": found.lower,
        "lower_with_bias": lower_bound_with_bias(problem),
        "best_linear": best_linear_error(problem.target),
    }
    if isinstance(problem, Protocol):
        upper, lower = best_over_learning_rate(problem)
        table |= {"upper_best_learning_rate": upper, "lower_best_learning_rate": lower}
    return {name: np.array([value]) for name, value in table.items()}


def _simulate(arguments: argparse.Namespace) -> Table:
    problem, grid = _checked(
        arguments,
        arguments.alpha,
        arguments.ridge,
        arguments.loss,
        replicates=COUNT,
        seed=SEED,
        dimension=DIMENSION,
        trainings=COUNT,
        threads=COUNT,
        **({} if arguments.test_samples == EXACT else {"test_samples": COUNT}),
    )
    sizes = Sizes(arguments.dimension, arguments.trainings, arguments.test_samples)

    told = {0}

    def report(share: float) -> None:
        if (percent := int(100 * share + 1e-9)) not in told:
            told.add(percent)
            print(f"\r{percent} %", end="" if percent < 100 else "\n", file=sys.stderr, flush=True)

    networks = range(arguments.replicates)
    raw = simulate(problem, grid, sizes, networks, arguments.seed, report, arguments.threads)
    alpha, ridge = np.meshgrid(np.asarray(grid.alpha), np.asarray(grid.ridge), indexing="ij")
    table: Table = {"alpha": alpha.ravel(), "ridge": ridge.ravel()}
    names = ["test_error", "training_error"]
    names += ["test_loss", "training_loss"] if arguments.loss != SQUARE else []
    signs = problem.target == SIGN and sizes.test_samples != EXACT  # which has no 0-1 error
    names += ["classification_error"] if signs else []
    for name in names:
        found = summarise(getattr(raw, name))
        table |= {name: found.mean.ravel(), f"{name}_stderr": found.stderr.ravel()}
    return table


def _print(table: Table, form: str, out: TextIO) -> None:
    """Print a header, then a row an entry."""
    rows = [list(table)]
    for entry in zip(*table.values(), strict=True):
        rows.append([x if isinstance(x, str) else f"{x:.12g}" for x in entry])
    if form == "csv":
        csv.writer(out, lineterminator="\n").writerows(rows)
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(x.rjust(w) for x, w in zip(row, widths, strict=True)), file=out)


def _advise(solution: Solution) -> None:
    """Say on standard error what to do about points that failed."""
    for status in Status:
        count = int(np.sum(solution.status == status))
        if status is not Status.CONVERGED and count:
            print(f"{count} point(s) {status.label}: {status.advice}", file=sys.stderr)


def _open(arguments: argparse.Namespace) -> int:
    """Print what a figure's file holds, as xarray shows it."""
    from giantstep.pipeline.storage.open_figure import (
        open_figure,  # only here: it takes a while to import
    )

    try:
        print(open_figure(arguments.figure, arguments.project))
    except (OSError, RuntimeError) as error:
        print(f"giantstep open: error: {error}", file=sys.stderr)
        return 2
    return 0


def _maintain(arguments: argparse.Namespace) -> int:
    """Explain what would run; verify or prune results."""
    from giantstep.cli.project_commands import run  # only here: it takes a while to import

    return run(arguments)


def _readable(argument: str) -> str:
    """Keep argparse from taking -1e-3 or -1:0.5 for a flag: it spares what begins with a blank."""
    return f" {argument}" if re.match(r"-(\d|\.\d|inf|nan)", argument) else argument


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    given = sys.argv[1:] if argv is None else argv
    arguments = _parser().parse_args([_readable(argument) for argument in given])
    of_project = {"open": _open, "explain": _maintain, "verify": _maintain, "prune": _maintain}
    if arguments.command in of_project:
        return of_project[arguments.command](arguments)
    run = {"theory": _theory, "simulate": _simulate, "spectrum": _spectrum, "bounds": _bounds}
    try:
        table = run[arguments.command](arguments)
    except InvalidParametersError as error:
        lines = "; ".join(
            f"{_flag(fault.name)} {fault.value}: must be {fault.allowed}" for fault in error.faults
        )
        print(f"giantstep {arguments.command}: error: {lines}", file=sys.stderr)
        return 2
    except argparse.ArgumentError as error:
        print(f"giantstep {arguments.command}: error: {error}", file=sys.stderr)
        return 2
    except MemoryError:
        text = "not enough memory: take a smaller dimension, or fewer points"
        print(f"giantstep {arguments.command}: error: {text}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    try:
        _print(table, arguments.format, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader had enough, as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
