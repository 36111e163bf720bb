"""What the command line accepts, and the problem, grid and sizes that its arguments make.

To add a flag: a new field of `Protocol`, `one_spike`, `Grid` or `Sizes` is one already. Any other
flag is a `Flag` in the function that adds its command's.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np

from giantstep import __version__
from giantstep.cli.flags import Flag, flags_of, protected, spelled
from giantstep.cli.limits import SIMULATION_HOURS, THEORY_HOURS
from giantstep.problems.bulk_kind import BULKS, ISOTROPIC
from giantstep.problems.grid import Grid
from giantstep.problems.losses import SQUARE
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes
from giantstep.problems.spiked_features import SpikedFeatures, one_spike
from giantstep.validation import Interval

OPTIMAL = "optimal"
# The command that finds the learning rate, instead of being given one.
OPTIMISE = "optimise"
POINTS = Interval(8, 50_000, whole=True)


class _Kind(NamedTuple):
    """One way to state a problem, and the flags that no other way has."""

    title: str
    make: Callable[..., Problem]
    flags: dict[str, Flag]

    @property
    def required(self) -> tuple[str, ...]:
        """The flags without a default: giving them is choosing this kind."""
        return tuple(name for name, flag in self.flags.items() if flag.default is None)


_STEPS, _SPIKED = flags_of(Protocol), flags_of(one_spike, SpikedFeatures)
_SHARED = {name: flag for name, flag in _STEPS.items() if name in _SPIKED}
_KINDS = tuple(
    _Kind(title, make, {name: flag for name, flag in flags.items() if name not in _SHARED})
    for title, make, flags in (
        ("gradient steps on the first layer", Protocol, _STEPS),
        ("spiked random features given directly", one_spike, _SPIKED),
    )
)
_GRID, _SIZES = flags_of(Grid), flags_of(Sizes)
_SIZES["dimension"] = replace(_SIZES["dimension"], default=500)
_RIDGE_OR_OPTIMAL = replace(
    _GRID["ridge"],
    hint=tuple[float | Literal["optimal"], ...],
    text=_GRID["ridge"].text + f"; or {OPTIMAL!r}, the best at each alpha",
)


def make_parser() -> argparse.ArgumentParser:
    """Make the parser of all commands."""
    parser = _Parser(
        prog="giantstep",
        description="Two-layer networks after one gradient step: theory and simulation.",
    )
    parser.add_argument("--version", action="version", version=f"giantstep {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (text, add_flags) in _QUESTIONS.items():
        command = commands.add_parser(name, help=text, description=_sentence(text))
        if name == OPTIMISE:
            _add_trained_problem(command)
        else:
            _add_problem(command)
        add_flags(command)
        command.add_argument(
            "--format", choices=("csv", "table"), default="csv", help="output format (default csv)"
        )
    for name, (text, add_flags) in _PROJECT.items():
        add_flags(commands.add_parser(name, help=text, description=_sentence(text)))
    return parser


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments of a command line."""
    return make_parser().parse_args([protected(argument) for argument in argv])


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one message, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message}\nSee {self.prog} --help\n")


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _add_problem(parser: argparse.ArgumentParser) -> None:
    """Add the flags that every problem has, and those of each way to state one."""
    group = parser.add_argument_group("the problem")
    for flag in _SHARED.values():
        flag.add_to(group)
    for word, kind in zip(("either", "or"), _KINDS, strict=True):
        group = parser.add_argument_group(f"{word} {kind.title}")
        for flag in kind.flags.values():
            flag.add_to(group, required=False)


def _add_trained_problem(parser: argparse.ArgumentParser) -> None:
    """Add the flags of gradient steps, without the learning rate."""
    group = parser.add_argument_group("the problem")
    for flag in (_SHARED | _KINDS[0].flags).values():
        if flag.name != "learning_rate":
            flag.add_to(group)
    others = {name: flag.default for name, flag in _KINDS[1].flags.items()}
    parser.set_defaults(**others, learning_rate=1.0)


def _add_theory(parser: argparse.ArgumentParser) -> None:
    _add_grid(parser, _GRID | {"ridge": _RIDGE_OR_OPTIMAL})
    _add_approximation(parser)
    Flag("certificate", bool, False, "add columns on the accuracy of each point").add_to(parser)
    _max_hours(THEORY_HOURS).add_to(parser)


def _add_bounds(parser: argparse.ArgumentParser) -> None:
    _max_hours(THEORY_HOURS).add_to(parser)


def _add_optimise(parser: argparse.ArgumentParser) -> None:
    _GRID["alpha"].add_to(parser)
    _RIDGE_OR_OPTIMAL.add_to(parser)
    _GRID["loss"].add_to(parser)
    _add_approximation(parser)
    _max_hours(THEORY_HOURS).add_to(parser)


def _add_approximation(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say what the theory approximates: the bulk, and the dimension."""
    parser.add_argument(
        "--bulk",
        choices=BULKS,
        default=ISOTROPIC,
        help="bulk of the first layer: isotropic as in the paper, or as trained by the first batch"
        f" (default {ISOTROPIC})",
    )
    text = "dimension of the inputs, >= 2; the default is the limit of the paper"
    Flag("dimension", float, math.inf, text).add_to(parser)


def _add_simulation(parser: argparse.ArgumentParser) -> None:
    _add_grid(parser, _GRID)
    group = parser.add_argument_group("sizes")
    for flag in (
        *_SIZES.values(),
        Flag("replicates", int, 8, "independent networks, >= 1"),
        Flag("threads", int, 1, "threads, >= 1; results do not depend on them"),
        Flag("seed", int, 0, "seed of all random numbers, >= 0"),
        _max_hours(SIMULATION_HOURS),
    ):
        flag.add_to(group)
    text = "refuse what would hold more GiB of memory than this (default that of this machine)"
    Flag("max_memory", float, None, text).add_to(group, required=False)


def _max_hours(default: float) -> Flag:
    return Flag("max_hours", float, default, "refuse what would take more core-hours than this")


def _add_grid(parser: argparse.ArgumentParser, flags: dict[str, Flag]) -> None:
    group = parser.add_argument_group("the grid")
    for flag in flags.values():
        flag.add_to(group)


def _add_spectrum(parser: argparse.ArgumentParser) -> None:
    replace(_GRID["alpha"], hint=float).add_to(parser)
    _add_approximation(parser)
    Flag("points", int, 200, "number of eigenvalues to print the density at").add_to(parser)
    Flag("x", tuple[float, ...], None, "these eigenvalues instead, each > 0").add_to(
        parser, required=False
    )
    _max_hours(THEORY_HOURS).add_to(parser)


def _add_init(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="a new folder, or an empty one")


def _add_explore(parser: argparse.ArgumentParser) -> None:
    Flag("port", int, 0, "port on 127.0.0.1; 0 is any that is free").add_to(parser)
    Flag("no_browser", bool, False, "print the address, and open no browser").add_to(parser)
    _add_project(parser)


def _add_open(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("figure", help="name of a figure, such as fig2")
    _add_project(parser)


def _add_scores(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "figure", nargs="*", help="names of figures, such as fig2 (default all that were made)"
    )
    _add_project(parser)


def _add_explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("figure", nargs="*", help="names of figures, such as fig2 (default all)")
    _add_project(parser)
    _add_overlays(parser)


def _add_verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("figure", help="name of a figure, such as fig2")
    parser.add_argument(
        "--sample",
        default="5%",
        metavar="SIZE",
        help="how many theory points and networks: a share (5%%) or a number (3) (default 5%%)",
    )
    Flag("seed", int, None, "seed that draws the sample (default random)").add_to(parser, False)
    _add_project(parser)
    _add_overlays(parser)


def _add_prune(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="remove them without asking")
    _add_project(parser)
    _add_overlays(parser, "; results that one refers to are kept")


def _add_project(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--project",
        default=".",
        metavar="FOLDER",
        help="folder of the project (default the current one)",
    )


def _add_overlays(parser: argparse.ArgumentParser, further: str = "") -> None:
    parser.add_argument(
        "--configfile",
        type=Path,
        nargs="+",
        default=[],
        metavar="OVERLAY",
        help="overlays of config/config.yaml, as for snakemake" + further,
    )


_AddFlags = Callable[[argparse.ArgumentParser], None]
# Commands about a problem, and commands about a project's results.
_QUESTIONS: dict[str, tuple[str, _AddFlags]] = {
    "theory": ("errors and overlaps on a grid, by the theory", _add_theory),
    "simulate": ("errors of trained networks: means and standard errors", _add_simulation),
    "spectrum": ("density of the eigenvalues of Phi^T Phi", _add_spectrum),
    "bounds": ("bounds on the error at the best ridge", _add_bounds),
    OPTIMISE: ("the learning rate with the least test error", _add_optimise),
}
_PROJECT: dict[str, tuple[str, _AddFlags]] = {
    "init": ("write a project with an example figure, for the workflow", _add_init),
    "explore": ("open a page in the browser whose curves follow sliders", _add_explore),
    "open": ("show the data of a figure", _add_open),
    "scores": ("print z-scores of figures' simulations against their theories", _add_scores),
    "explain": ("show what the workflow would run, why, and at what cost", _add_explain),
    "verify": ("recompute a random part of a figure's data and compare bit for bit", _add_verify),
    "prune": ("list results that no config refers to, and remove them if confirmed", _add_prune),
}


def problem_of(arguments: argparse.Namespace) -> Problem:
    """Make the problem, of the kind whose required flags were given.

    Raises
    ------
    argparse.ArgumentError
        If the flags are not those of one kind.
    InvalidParametersError
    """
    given = {
        name for kind in _KINDS for name in kind.required if getattr(arguments, name) is not None
    }
    chosen = next((kind for kind in _KINDS if set(kind.required) == given), None)
    if chosen is None:
        choices = " or all of ".join(" ".join(map(spelled, kind.required)) for kind in _KINDS)
        got = " ".join(map(spelled, sorted(given))) or "none of them"
        raise argparse.ArgumentError(None, f"give all of {choices}; got {got}")
    for kind in _KINDS:
        if kind is not chosen:
            _refuse(kind, arguments)
    return chosen.make(**_values(arguments, _SHARED | chosen.flags))


def _refuse(kind: _Kind, arguments: argparse.Namespace) -> None:
    """Refuse flags of a kind of problem that is not the one asked about."""
    for name, value in _values(arguments, kind.flags).items():
        if value != kind.flags[name].default:
            raise argparse.ArgumentError(None, f"{spelled(name)} is for {kind.title}")


def grid_of(arguments: argparse.Namespace) -> Grid:
    """Make the grid."""
    return Grid(**_values(arguments, _GRID))


def alpha_of(arguments: argparse.Namespace) -> tuple[float, ...]:
    """Check the sample complexities, for a question without other axes of a grid."""
    loss = getattr(arguments, "loss", SQUARE)  # a spectrum has none
    return Grid(tuple(np.atleast_1d(arguments.alpha)), (1.0,), loss).alpha


def sizes_of(arguments: argparse.Namespace) -> Sizes:
    """Make the sizes of a simulation."""
    return Sizes(**_values(arguments, _SIZES))


def _values(arguments: argparse.Namespace, flags: dict[str, Flag]) -> dict[str, Any]:
    """Return the arguments of some flags, lists as tuples."""
    values = {name: getattr(arguments, name) for name in flags}
    return {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
